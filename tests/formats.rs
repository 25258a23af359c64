//! Every real file in every format that we open: the numbers do not depend on it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

#[path = "support/opened.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod opened;
#[path = "support/retold.rs"]
mod retold;

use memscape::engine::protocol::FileSummary;
use opened::{open, open_in, snapshots};
use retold::{Layout, Tree};

/// The real files, the smallest first. Told again without sharing a file grows up to fifty times, so most tests take those that
/// have at most `most` bytes.
fn files(most: usize) -> Vec<(String, Vec<u8>)> {
    let Some(folder) = snapshots() else { return Vec::new() };
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "pickle"))
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .filter(|(_, bytes)| bytes.len() <= most)
        .collect();
    files.sort_by_key(|(_, bytes)| bytes.len());
    files
}

/// The summary, but for how the file is written.
fn summary(name: &str, bytes: &[u8], format: &str) -> FileSummary {
    let mut summary = open(bytes).unwrap_or_else(|error| panic!("{name} as {format}: {error}")).summary;
    assert_eq!(summary.format, format, "{name}");
    summary.format.clear();
    summary
}

fn pickled(name: &str, bytes: &[u8]) -> FileSummary {
    let mut summary = open(bytes).unwrap_or_else(|error| panic!("{name}: {error}")).summary;
    summary.format.clear();
    summary
}

#[test]
fn as_json_compact_and_pretty() {
    for (name, bytes) in files(700 << 10) {
        let expected = pickled(&name, &bytes);
        let tree = Tree::of(&bytes);
        let compact = tree.json(Layout::Compact);
        assert_eq!(summary(&name, &compact, "JSON"), expected, "{name}");
        let pretty = tree.json(Layout::Pretty);
        assert_eq!(summary(&name, &pretty, "JSON"), expected, "{name}, pretty");
        println!("{name}: {} bytes, {} as JSON, {} pretty", bytes.len(), compact.len(), pretty.len());
        if bytes.len() < 100 << 10 {
            let sliced = open_in(&compact, 4093, 1).unwrap_or_else(|error| panic!("{name}, sliced: {error}"));
            assert_eq!(FileSummary { format: String::new(), ..sliced.summary }, expected, "{name}, sliced");
        }
    }
}

#[test]
fn json_cut_anywhere_is_an_error_with_its_place() {
    for (name, bytes) in files(6 << 10) {
        let json = Tree::of(&bytes).json(Layout::Compact);
        for end in 0..json.len() {
            let error = open(&json[..end]).err().unwrap_or_else(|| panic!("{name} cut at {end} opens"));
            let place =
                error.rsplit("byte ").next().and_then(|place| place.trim_end_matches(')').parse::<usize>().ok());
            assert!(end == 0 || place == Some(end), "cut at {end}: {error}");
        }
    }
}
