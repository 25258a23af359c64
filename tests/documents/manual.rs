//! Checks the manual in `www/docs`: every page is reachable, all commands, insights and export formats are named, and
//! `memscape help` prints the pages.

use super::classified::Session;
use super::links::read;
use super::markdown::Document;
use super::workshop::{PROGRAM, Workshop, root};
use super::{document, names};
use memscape::protocol::{ExportFormat, Topic};
use std::collections::BTreeSet;
use std::fs;

/// Maximum number of lines of README.md.
const MAX_README_LINES: usize = 160;
/// First page of the manual.
pub(super) const INDEX: &str = "www/docs/index.md";

/// Returns the pages of the manual, without the index.
pub(super) fn pages() -> Vec<String> {
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
    for format in ExportFormat::ALL.map(ExportFormat::name).into_iter().chain(["parquet", "sqlite", "mindstudio"]) {
        assert!(spans.contains(format), "no page names the export format {format}");
    }
}

#[test]
fn help_lists_topics_in_order_of_index() {
    let workshop = Workshop::new("help-topics");
    let help = workshop.memscape(&["help".to_owned()], "").unwrap();
    let (_, topics) = help.split_once("\nTopics of the manual (memscape help TOPIC):\n").unwrap();
    let listed: Vec<String> = topics.lines().map(|line| line.trim().to_owned()).collect();
    let linked = read(INDEX).links.into_iter().map(|(_, link)| format!("www/docs/{link}"));
    let expected = linked.map(|page| format!("{:<22} {}", topic(&page), title(&page)));
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
