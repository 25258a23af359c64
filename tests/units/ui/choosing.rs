//! Tests of `src/ui/choosing.rs`, a module of its: they reach what is private there.

use super::*;
use crate::effect::Origin;

fn choice(name: &str, bytes: u64) -> Choice {
    let (origin, file) = (Origin::File(0), name.to_owned());
    Choice { origin, member: None, file, path: None, bytes: Some(bytes), load: None }
}

fn range(from: u32, to: u32, last: u32) -> Option<LoadRange> {
    Some(LoadRange { from, to, last })
}

#[test]
fn events_are_read_as_people_write_them() {
    const ALL: u32 = u32::MAX;
    assert_eq!(read("last 1,000,000"), range(0, ALL, 1_000_000));
    assert_eq!(read("Last1000"), range(0, ALL, 1000));
    assert_eq!(read("2,000,000..3,000,000"), range(2_000_000, 3_000_001, ALL));
    assert_eq!(read(" 10 – 12 "), range(10, 13, ALL));
    assert_eq!(read("10-12"), range(10, 13, ALL));
    assert_eq!(read("10.."), range(10, ALL, ALL));
    assert_eq!(read("..12"), range(0, 13, ALL));
    assert_eq!(read("all"), Some(LoadRange::ALL));
    for wrong in ["", "last", "last 0", "12..10", "a..b", "10", "5000000000..", "last -1"] {
        assert_eq!(read(wrong), None, "{wrong}");
    }
}

#[test]
fn what_is_written_is_read_again() {
    for (from, to, last) in [(0, u32::MAX, 1), (5, 6, u32::MAX), (5, u32::MAX, u32::MAX), (0, 1000, u32::MAX)] {
        let range = LoadRange { from, to, last };
        assert_eq!(read(&written(range)), Some(range), "{}", written(range));
    }
}

#[test]
fn a_large_file_is_asked_about_and_says_what_it_takes() {
    let said = |name: &str, bytes: u64| {
        let choice = choice(name, bytes);
        is_large(&choice).then(|| Choosing::new(&choice).text)
    };
    assert_eq!(said("a.pickle", 2_000_000_000), None);
    assert_eq!(said("a.pickle", 4 << 30).as_deref(), Some("4.00 GiB. All events take at most 1.68 GiB of memory."));
    assert_eq!(
        said("a.pickle", 10 << 30).as_deref(),
        Some(
            "10.0 GiB. All events take from 1.00 GiB to 4.20 GiB of memory, and a page can have 4.00 GiB. A range takes less."
        )
    );
    assert_eq!(
        said("a.pickle", 40 << 30).as_deref(),
        Some(
            "40.0 GiB. All events take at least 4.00 GiB of memory, and a page can have 4.00 GiB: load a range of them, or use the command line."
        )
    );
    // A packed one takes more than its bytes.
    assert_eq!(said("a.pickle.gz", 400 << 20), None);
    assert!(said("a.pickle.GZ", 500 << 20).is_some_and(|text| text.contains("from 500 MiB to 3.42 GiB")));
}
