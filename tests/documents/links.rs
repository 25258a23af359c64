//! Checks the links of all Markdown files: files and headings exist, and the manual links only to what ships with it.
//! Web addresses are not fetched.

use super::workshop::root;
use super::{assert_none, manual};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Folders of build outputs. Folders whose names start with a dot are left out as well.
const LEFT_OUT: [&str; 4] = ["built", "dist", "node_modules", "target"];
/// Samples of the start page, which stand beside the folder of the manual in the build.
const SAMPLES: [&str; 4] = ["out-of-memory", "leak", "training", "cuda-graphs"];
/// Folder of pictures and folder of snapshots of the manual. Every file in them is linked from a page.
const PICTURES: &str = "www/docs/pictures";
const TUTORIAL_SAMPLES: &str = "www/docs/samples";

/// Links and anchors of a Markdown file.
#[derive(Default)]
pub(super) struct Links {
    /// Targets of links and pictures, with their lines.
    pub(super) links: Vec<(usize, String)>,
    /// Anchors of the headings, as GitHub generates them, in order.
    pub(super) anchors: Vec<String>,
}

/// Parses a Markdown file, given relative to the root.
pub(super) fn read(name: &str) -> Links {
    parse(&fs::read_to_string(root().join(name)).unwrap())
}

fn parse(text: &str) -> Links {
    let mut links = Links::default();
    let mut heading: Option<String> = None;
    for (event, bytes) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => links.anchors.extend(heading.take().map(|text| anchor(&text))),
            Event::Text(part) | Event::Code(part) => heading.iter_mut().for_each(|text| *text += &part),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                let line = text[..bytes.start].matches('\n').count() + 1;
                links.links.push((line, dest_url.into_string()));
            }
            _ => {}
        }
    }
    links
}

/// Returns the anchor of a heading.
fn anchor(heading: &str) -> String {
    let letters = heading.to_lowercase();
    letters.chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it)).collect::<String>().replace(' ', "-")
}

/// Returns the Markdown files below a folder, relative to the root.
fn markdown_files(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_left_out = path.is_symlink() || name.starts_with('.') || LEFT_OUT.contains(&name);
        if path.is_dir() && !is_left_out {
            names.extend(markdown_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            names.push(path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned());
        }
    }
    names.sort();
    names
}

/// Resolves `..` and `.` in a relative path. Returns `None` if it leaves the repository.
fn resolved(path: &Path) -> Option<PathBuf> {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => whole.pop().then_some(())?,
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    Some(whole)
}

/// Returns what is wrong with a link of a document, in one sentence. `None` if the link is right.
fn fault(document: &str, link: &str, anchors: &BTreeMap<String, Vec<String>>) -> Option<String> {
    if let Some((scheme, rest)) = link.split_once("://") {
        let is_address = scheme == "https" && !rest.is_empty() && !rest.contains(char::is_whitespace);
        return (!is_address).then(|| format!("{link} is no https address"));
    }
    let (path, heading) = link.split_once('#').map_or((link, None), |(path, heading)| (path, Some(heading)));
    let folder = Path::new(document).parent().unwrap();
    let file = if path.is_empty() { Some(PathBuf::from(document)) } else { resolved(&folder.join(path)) };
    let Some(file) = file else { return Some(format!("{link} leaves the repository")) };
    let name = file.to_str().unwrap();
    let is_sample = SAMPLES.iter().any(|sample| name == format!("www/{sample}.pickle.gz"));
    if !root().join(&file).exists() {
        Some(format!("{link} leads to no file"))
    } else if heading.is_some_and(|heading| !anchors.get(name).is_some_and(|all| all.iter().any(|it| it == heading))) {
        Some(format!("{link} leads to no heading"))
    } else if document.starts_with("www/docs/") && !name.starts_with("www/docs/") && !is_sample {
        Some(format!("{link} leads to a file that does not ship with the manual"))
    } else {
        None
    }
}

#[test]
fn links_and_anchors_resolve() {
    let documents: BTreeMap<String, Links> =
        markdown_files(root()).into_iter().map(|name| (name.clone(), read(&name))).collect();
    for name in ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md", manual::INDEX] {
        assert!(documents.contains_key(name), "{name}");
    }
    let anchors = documents.iter().map(|(name, document)| (name.clone(), document.anchors.clone())).collect();
    let links = documents.iter().flat_map(|(name, document)| document.links.iter().map(move |link| (name, link)));
    let links: Vec<(&String, &(usize, String))> = links.collect();
    let errors: Vec<String> = links
        .iter()
        .filter_map(|(name, (line, link))| Some(format!("{name}:{line}: {}", fault(name, link, &anchors)?)))
        .collect();
    assert_none(&errors);
    assert!(links.len() > 120, "{} links were checked", links.len());
}

#[test]
fn wrong_links_are_errors() {
    let anchors = BTreeMap::from([("www/docs/index.md".to_owned(), parse("# Two & `one`\n").anchors)]);
    let fault = |link| fault("www/docs/index.md", link, &anchors);
    for right in ["#two--one", "index.md#two--one", "https://example.org/a#b", "../leak.pickle.gz"] {
        assert_eq!(fault(right), None, "{right}");
    }
    for (wrong, why) in [
        ("#one", "no heading"),
        ("missing.md", "no file"),
        ("../../../x.md", "leaves the repository"),
        ("../../README.md", "does not ship"),
        ("http://example.org", "no https address"),
        ("https://a b", "no https address"),
    ] {
        assert!(fault(wrong).is_some_and(|fault| fault.contains(why)), "{wrong}: {:?}", fault(wrong));
    }
}

#[test]
fn anchors_in_a_page_are_unique() {
    for page in manual::pages() {
        let anchors = read(&page).anchors;
        let unique: BTreeSet<&String> = anchors.iter().collect();
        assert_eq!(unique.len(), anchors.len(), "{page}: {anchors:?}");
    }
}

#[test]
fn reference_links_and_pictures_are_found() {
    let links = parse("# A\n\n[a][b] ![c](d.png)\n\n```sh\n# [e](f)\n```\n\n[b]: g.md\n");
    assert_eq!(links.links, [(3, "g.md".to_owned()), (3, "d.png".to_owned())]);
    assert_eq!(links.anchors, ["a"]);
}

/// Every picture has a light and a dark version, is shown on a page, and is taken by `tests/browser/tutorials.rs`.
#[test]
fn pictures_and_samples_of_manual_are_used() {
    let names = |folder: &str| -> BTreeSet<String> {
        let files = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        files.map(|name| format!("{folder}/{}", name.to_str().unwrap())).collect()
    };
    let pages = manual::pages();
    let linked = pages.iter().flat_map(|page| read(page).links).filter_map(|(_, link)| {
        (!link.contains("://"))
            .then(|| resolved(&Path::new("www/docs").join(link)))?
            .map(|path| path.display().to_string())
    });
    let linked: BTreeSet<String> = linked.collect();
    let taken = fs::read_to_string(root().join("tests/browser/tutorials.rs")).unwrap();
    for picture in names(PICTURES) {
        let (name, version) = picture.rsplit_once('-').unwrap();
        assert!(["light.webp", "dark.webp"].contains(&version), "{picture}");
        assert!(linked.contains(&format!("{name}-light.webp")), "no page shows {picture}");
        assert!(root().join(format!("{name}-dark.webp")).exists(), "{name} has no dark version");
        let name = name.rsplit('/').next().unwrap();
        assert!(taken.contains(&format!("\"{name}\"")), "tests/browser/tutorials.rs does not take {name}");
        let bytes = fs::metadata(root().join(&picture)).unwrap().len();
        assert!(bytes < 100_000, "{picture} has {bytes} bytes");
    }
    for sample in names(TUTORIAL_SAMPLES) {
        assert!(linked.contains(&sample), "no page links to {sample}");
    }
}

/// The manifests of the packages for npm, VS Code and PyPI, if they name the repository.
#[test]
fn packages_name_the_repository_of_cargo_toml() {
    let pattern = regex_lite::Regex::new("https?://[^\"' ]*memscape[^\"' ]*").unwrap();
    let addresses = |name: &str| -> BTreeSet<String> {
        let text = fs::read_to_string(root().join(name)).unwrap();
        pattern.find_iter(&text).map(|found| found.as_str().to_owned()).collect()
    };
    let repository = addresses("Cargo.toml");
    assert_eq!(repository.len(), 1, "{repository:?}");
    assert_eq!(addresses("src/vscode/package.json"), repository);
    for manifest in ["src/pack/npm/package.json", "pyproject.toml"] {
        assert!(addresses(manifest).is_subset(&repository), "{manifest}: {:?}", addresses(manifest));
    }
}
