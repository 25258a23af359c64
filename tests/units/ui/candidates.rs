//! Unit tests of `src/ui/session/candidates.rs`.

use super::*;

fn listed(names: &[&str]) -> Vec<(String, Origin)> {
    let files =
        names.iter().map(|&name| GivenFile { name: name.to_owned(), bytes: u64::from(!name.contains("empty")) });
    candidates(files.collect()).into_iter().map(|it| (it.file, it.origin)).collect()
}

#[test]
fn possible_snapshots_are_listed_likeliest_first() {
    let found = listed(&[
        "run/trace_plot.html",
        "run/.DS_Store",
        "run/loss.PNG",
        "run/train.py",
        "run/config.json",
        "run/memory",
        "run/old.pickle.gz",
        "run/snapshot.pickle",
        "run/empty.pickle",
        "run/empty_SUCCESS",
        "run/empty_rank3",
    ]);
    let names =
        ["snapshot.pickle", "old.pickle.gz", "memory", "config.json", "trace_plot.html", "empty.pickle", "empty_rank3"];
    let places = [7, 6, 5, 4, 0, 8, 10];
    let expected = names.iter().zip(places).map(|(name, place)| (format!("run/{name}"), Origin::File(place)));
    assert_eq!(found, expected.collect::<Vec<_>>());
}

#[test]
fn single_file_is_listed_with_any_name() {
    assert_eq!(listed(&["empty.png"]).len(), 1);
    assert_eq!(listed(&["a.png", "b.py"]), []);
}

#[test]
fn files_that_are_no_snapshots_are_named() {
    let files = |names: &[&str]| -> Vec<GivenFile> {
        names.iter().map(|&name| GivenFile { name: name.to_owned(), bytes: 1 }).collect()
    };
    let message = |names: &[&str]| skipped_message(&files(names), &candidates(files(names)));
    assert_eq!(message(&["a.pickle", "b.pickle"]), None);
    assert_eq!(message(&["loss.png"]), None, "a single file is always tried");
    assert_eq!(message(&["loss.png", "a.pickle"]).as_deref(), Some("Not a snapshot: loss.png."));
    let folder = ["a.pickle", "loss.png", "train.py", ".DS_Store"];
    assert_eq!(message(&folder).as_deref(), Some("Not a snapshot: loss.png and 2 more."));
}
