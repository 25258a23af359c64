//! Checks the manual in `www/docs`: links and anchors resolve, every page is reachable, all commands, insights and export
//! formats are named, and `memscape help` prints the pages.

use super::classified::Session;
use super::markdown::Document;
use super::workshop::{PROGRAM, Workshop, root};
use super::{assert_none, document, names};
use memscape::protocol::{ExportFormat, Topic};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Maximum number of lines of README.md.
const MAX_README_LINES: usize = 160;
/// Documents whose links are checked, in addition to those whose commands are run.
const MORE_DOCUMENTS: [&str; 1] = ["ARCHITECTURE.md"];
/// First page of the manual.
const INDEX: &str = "www/docs/index.md";

/// Returns the pages of the manual, without the index.
fn pages() -> Vec<String> {
    names().into_iter().filter(|name| name.starts_with("www/docs/") && name != INDEX).collect()
}

/// Returns the topic of a page, as on the command line.
fn topic(page: &str) -> &str {
    page.trim_start_matches("www/docs/").trim_end_matches(".md")
}

/// Returns the first heading of a file.
fn title(page: &str) -> String {
    let text = fs::read_to_string(root().join(page)).unwrap();
    text.lines().next().unwrap().strip_prefix("# ").unwrap().to_owned()
}

/// Returns the targets of the links in a document, with their lines. Code spans are left out.
fn links(document: &Document) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for paragraph in &document.paragraphs {
        let plain: String = paragraph.text.split('`').step_by(2).collect();
        let targets = plain.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        found.extend(targets.map(|(target, _)| (paragraph.line, target.to_owned())));
    }
    found
}

/// Returns the anchors of the headings in a Markdown file, as GitHub generates them.
fn anchors(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let mut is_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        if let Some((_, heading)) =
            line.split_once("# ").filter(|(level, _)| !is_code && level.trim_matches('#').is_empty())
        {
            let letters = heading.to_lowercase();
            let kept = letters.chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
            found.push(kept.collect::<String>().replace(' ', "-"));
        }
    }
    found
}

/// Resolves `..` and `.` in a relative path.
fn resolved(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(whole.pop(), "{} leaves the repository", path.display()),
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    whole
}

/// Returns the file, relative to the root, that a link in a document leads to. `None` for a web address.
fn target(document: &str, link: &str) -> Option<(PathBuf, Option<String>)> {
    if link.contains("://") {
        return None;
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor.to_owned())));
    let folder = Path::new(document).parent().unwrap();
    let file = if path.is_empty() { PathBuf::from(document) } else { resolved(&folder.join(path)) };
    Some((file, anchor))
}

#[test]
fn links_and_anchors_resolve() {
    let mut errors = Vec::new();
    let mut count = 0;
    for name in names().into_iter().chain(MORE_DOCUMENTS.map(str::to_owned)) {
        let document = document(&name);
        for (line, link) in links(&document) {
            let Some((file, anchor)) = target(&name, &link) else { continue };
            count += 1;
            let path = root().join(&file);
            if !path.exists() {
                errors.push(format!("{name}:{line}: {link} leads to no file"));
            } else if anchor.is_some_and(|anchor| !anchors(&path).contains(&anchor)) {
                errors.push(format!("{name}:{line}: {link} leads to no heading"));
            } else if name.starts_with("www/docs/") && !file.starts_with("www/docs") {
                errors.push(format!("{name}:{line}: {link} leads to a file that is not in the manual"));
            }
        }
    }
    assert_none(&errors);
    assert!(count > 60, "{count} links were checked");
}

#[test]
fn anchors_in_a_page_are_unique() {
    for page in pages() {
        let anchors = anchors(&root().join(&page));
        let unique: BTreeSet<&String> = anchors.iter().collect();
        assert_eq!(unique.len(), anchors.len(), "{page}: {anchors:?}");
    }
}

#[test]
fn every_page_is_linked_from_index_and_readme_with_its_title() {
    for name in [INDEX, "README.md"] {
        let text = fs::read_to_string(root().join(name)).unwrap();
        for page in pages() {
            let path = page.trim_start_matches(if name == INDEX { "www/docs/" } else { "" });
            let link = format!("[{}]({path})", title(&page));
            assert!(text.contains(&link), "{name} has no {link}");
        }
    }
}

#[test]
fn readme_is_short() {
    let lines = fs::read_to_string(root().join("README.md")).unwrap().lines().count();
    assert!(lines <= MAX_README_LINES, "README.md has {lines} lines");
}

#[test]
fn manual_names_commands_insights_and_formats() {
    let pages: Vec<Document> = pages().iter().map(|page| document(page)).collect();
    let spans: BTreeSet<&str> = pages.iter().flat_map(|page| page.spans.iter().map(|span| &*span.text)).collect();
    let blocks = pages.iter().flat_map(|page| page.blocks.iter().flat_map(|block| block.text.lines()));
    let lines: Vec<&str> = blocks.chain(spans.iter().copied()).collect();
    for command in Session::new("manual-commands").commands() {
        let start = format!("memscape {command}");
        let is_named = |line: &&str| {
            let rest = line.trim_start_matches("$ ").strip_prefix(&start);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        assert!(lines.iter().any(is_named), "no page shows {start}");
    }
    for topic in Topic::ALL {
        assert!(spans.contains(topic.name()), "no page names the insight {}", topic.name());
    }
    for format in ExportFormat::ALL.map(ExportFormat::name).into_iter().chain(["parquet", "sqlite"]) {
        assert!(spans.contains(format), "no page names the export format {format}");
    }
}

#[test]
fn help_lists_topics_in_order_of_index() {
    let workshop = Workshop::new("help-topics");
    let help = workshop.memscape(&["help".to_owned()], "").unwrap();
    let (_, topics) = help.split_once("\nTopics of the manual (memscape help TOPIC):\n").unwrap();
    let listed: Vec<String> = topics.lines().map(|line| line.trim().to_owned()).collect();
    let linked = links(&document(INDEX)).into_iter().map(|(_, link)| format!("www/docs/{link}"));
    let expected = linked.map(|page| format!("{:<15} {}", topic(&page), title(&page)));
    assert_eq!(listed, expected.collect::<Vec<_>>());
    // The list of commands is the same as without topics.
    let plain = workshop.memscape(&["--help".to_owned()], "").unwrap();
    assert!(help.starts_with(&plain) && plain.contains("memscape help TOPIC"), "{help}");
}

#[test]
fn help_prints_pages_and_help_of_commands() {
    let session = Session::new("help-pages");
    let print =
        |words: &[&str]| session.workshop.memscape(&words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>(), "");
    for page in pages() {
        let text = print(&["help", topic(&page)]).unwrap();
        assert_eq!(text.lines().next().unwrap(), title(&page));
        assert!(!session.commands().iter().any(|command| command == topic(&page)), "{page} is named like a command");
        let long = text.lines().find(|line| !line.starts_with("    ") && line.chars().count() > 80);
        assert!(long.is_none(), "{page}: {long:?}");
    }
    for command in session.commands() {
        assert_eq!(print(&["help", &command]), print(&[&command, "--help"]), "{command}");
    }
    // An old name of a command.
    assert_eq!(print(&["help", "stages"]), print(&["steps", "--help"]));
}

#[test]
fn help_for_unknown_topic_lists_topics() {
    let workshop = Workshop::new("help-unknown");
    let mut help = workshop.command(PROGRAM);
    help.args(["help", "bogus"]);
    let output = workshop.output(help, "");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{error}");
    let topics: Vec<String> = pages().iter().map(|page| topic(page).to_owned()).collect();
    assert!(error.contains("\"bogus\"") && topics.iter().all(|topic| error.contains(topic)), "{error}");
}
