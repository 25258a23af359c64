//! Checks that labels and menu paths in README.md and the manual (`*Share → Copy link*`) exist in the page.

use super::markdown::Document;
use super::{assert_none, documents, root};
use memscape::protocol::Topic;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Menus and dialogs: label, and start and end of the part of index.html with their entries.
const MENUS: [(&str, &str, &str); 3] = [
    ("Share", "<div id=\"share-menu\"", "</div>"),
    ("⋯", "<div id=\"more-menu\"", "</div>"),
    ("Export…", "<dialog id=\"export\"", "</dialog>"),
];

/// Returns the texts of all elements.
fn texts(html: &str) -> BTreeSet<String> {
    let parts = html.split('<').filter_map(|part| part.split_once('>'));
    parts.map(|(_, text)| text.trim().replace("&amp;", "&")).filter(|text| !text.is_empty()).collect()
}

/// Returns emphasized (not strong) texts with their lines.
fn emphasized(document: &Document) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for paragraph in &document.paragraphs {
        let plain: String = paragraph.text.split('`').step_by(2).collect();
        // Bullets and strong text are removed first.
        let plain = plain.trim_start().trim_start_matches("* ").replace(" * ", " ").replace("**", "\u{0}");
        let parts = plain.split('*').skip(1).step_by(2);
        found.extend(parts.map(|text| (paragraph.line, text.to_owned())));
    }
    found
}

/// Returns true if the sources in `folder` contain this text as a string, because some elements are created at run
/// time.
fn is_in_sources(folder: &Path, label: &str) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            is_in_sources(&path, label)
        } else {
            fs::read_to_string(&path).unwrap().contains(&format!("\"{label}\""))
        }
    })
}

#[test]
fn menu_paths_in_documents_exist() {
    let html = fs::read_to_string(root().join("index.html")).unwrap();
    let all = texts(&html);
    let topics: BTreeSet<&str> =
        Topic::ALL.into_iter().chain([Topic::Comparison, Topic::Ranks]).map(Topic::title).collect();
    let mut errors = Vec::new();
    let mut paths = 0;
    let documents = documents();
    let paths_in = |document| emphasized(document).into_iter().map(move |(line, path)| (document, line, path));
    for (document, line, path) in documents.iter().flat_map(paths_in) {
        let is_known = |label: &str| {
            all.contains(label)
                || topics.contains(label)
                || is_in_sources(&root().join("src/page"), label)
                || is_in_sources(&root().join("src/ui"), label)
        };
        if is_known(&path) {
            continue;
        }
        let mut menu = None;
        paths += 1;
        for label in path.split(" → ") {
            let is_there = match menu {
                Some((_, start, end)) => {
                    let (_, rest) = html.split_once(start).unwrap();
                    texts(rest.split(end).next().unwrap()).contains(label)
                }
                None => is_known(label),
            };
            if !is_there {
                errors.push(format!("{}:{line}: {path}: the page has no {label:?} there", document.name));
            }
            menu = MENUS.iter().find(|(name, ..)| *name == label).copied();
        }
    }
    assert_none(&errors);
    assert!(paths > 4, "{paths} paths were found");
}
