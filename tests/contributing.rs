//! CONTRIBUTING.md, held against the tree: the paths it names exist, and a new insight touches what it says.

use super::{root, rust_files};
use std::collections::BTreeSet;
use std::fs;

/// What CONTRIBUTING.md says under a heading.
fn chapter(heading: &str) -> String {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let (_, rest) = text.split_once(&format!("\n## {heading}\n")).expect(heading);
    rest.split("\n## ").next().unwrap().to_owned()
}

/// The paths in a text: what stands in backquotes and has a folder or an ending.
fn paths(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted
        .filter(|it| {
            !it.contains([' ', '<']) && (it.starts_with("src/") || it.starts_with("tests/") || it.ends_with(".html"))
        })
        .collect()
}

#[test]
fn every_path_in_contributing_exists() {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let paths = paths(&text);
    assert!(paths.len() > 20, "{paths:?}");
    for path in paths.into_iter().filter(|path| !path.contains("NAME")) {
        assert!(root().join(path).exists(), "CONTRIBUTING.md names {path}, which is not there");
    }
}

/// The files that a chapter lists, checked to be no more than `most`.
fn listed(heading: &str, most: usize) -> BTreeSet<String> {
    let chapter = chapter(heading);
    // Of a numbered list, the first path of each line is the file that is touched.
    let lines = chapter.lines().filter(|line| line.starts_with(|it: char| it.is_ascii_digit()));
    let files: BTreeSet<String> = lines.filter_map(|line| paths(line).first().map(|it| (*it).to_owned())).collect();
    assert!(!files.is_empty() && files.len() <= most, "{heading}: at most {most} files, listed are {files:?}");
    files
}

/// The listed files that exist already: the registries.
fn registries(listed: BTreeSet<String>) -> BTreeSet<String> {
    listed.into_iter().filter(|path| !path.contains("NAME")).collect()
}

/// The files under `src` that name one of these, but for those whose path holds `own`.
fn naming(names: &[&str], own: &[&str]) -> BTreeSet<String> {
    let sources = rust_files("src").into_iter();
    let is_own = |name: &str| own.iter().any(|own| name.contains(own));
    let found = sources.filter(|it| names.iter().any(|name| it.text.contains(name)) && !is_own(&it.name));
    found.map(|source| format!("src/{}", source.name)).collect()
}

#[test]
fn a_new_insight_touches_the_files_that_contributing_lists() {
    // One that exists, and that nothing but its own folder has anything special for.
    assert_eq!(naming(&["Topic::Pools"], &["/pools/"]), registries(listed("A new insight", 4)));
}

#[test]
fn a_new_tab_touches_the_files_that_contributing_lists() {
    let mut listed = registries(listed("A new tab", 6));
    assert!(listed.remove("index.html"));
    let html = fs::read_to_string(root().join("index.html")).unwrap();
    assert!(html.contains("id=\"tab-state\"") && html.contains("aria-labelledby=\"tab-state\""));
    // One that exists, and for which nothing but its own feature and panels has anything special.
    let own = ["features/memory", "panels/memory"];
    let names = ["Tab::Memory", "FeatureCommand::Memory", "MemoryAction", "mod memory;", "memory::FEATURE"];
    // The terminal can do without it.
    let others = ["src/engine/", "src/tui/"];
    let is_other = |path: &String| others.iter().any(|other| path.starts_with(other));
    let found = naming(&names, &own).into_iter().filter(|path| !is_other(path)).collect();
    assert_eq!(listed, found);
}

#[test]
fn a_new_export_touches_the_files_that_contributing_lists() {
    let mut listed = registries(listed("A new export of the picture", 3));
    assert!(listed.remove("index.html"));
    let html = fs::read_to_string(root().join("index.html")).unwrap();
    assert!(html.contains("id=\"export-svg\""));
    // The command line makes the same picture.
    for one in ["Format::Svg", "Format::Png2"] {
        assert_eq!(naming(&[one], &["cli/plot.rs"]), listed, "{one}");
    }
}
