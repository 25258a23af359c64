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

#[test]
fn a_new_insight_touches_the_files_that_contributing_lists() {
    let chapter = chapter("A new insight");
    let listed = paths(&chapter).into_iter().filter(|path| path.starts_with("src/")).collect::<BTreeSet<_>>();
    assert!(listed.len() <= 4, "an insight is to touch at most four files: {listed:?}");
    // One that exists, and that nothing but its own folder has anything special for.
    let sources = rust_files("src");
    let naming =
        sources.iter().filter(|source| source.text.contains("Topic::Pools") && !source.name.contains("/pools/"));
    let touched = naming.map(|source| format!("src/{}", source.name)).collect::<BTreeSet<_>>();
    let listed = listed.into_iter().filter(|path| !path.contains("NAME")).map(str::to_owned).collect();
    assert_eq!(touched, listed);
}
