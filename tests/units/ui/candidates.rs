//! Tests of `src/ui/candidates.rs`, a module of its: they reach what is private there.

use super::*;

fn listed(names: &[&str]) -> Vec<(String, Origin)> {
    let files =
        names.iter().map(|&name| GivenFile { name: name.to_owned(), bytes: u64::from(!name.contains("empty")) });
    candidates(files.collect()).into_iter().map(|it| (it.file, it.origin)).collect()
}

#[test]
fn what_can_be_a_snapshot_is_listed_the_likeliest_first() {
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
fn a_file_alone_is_tried_whatever_it_is_called() {
    assert_eq!(listed(&["empty.png"]).len(), 1);
    assert_eq!(listed(&["a.png", "b.py"]), []);
}
