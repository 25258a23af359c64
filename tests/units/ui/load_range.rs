//! Unit tests of `src/ui/text/load_range.rs`.

use super::*;

fn range(from: u32, to: u32, max_events: u32) -> Option<LoadRange> {
    Some(LoadRange { from, to, max_events })
}

#[test]
fn common_notations_of_ranges_are_parsed() {
    const ALL: u32 = u32::MAX;
    assert_eq!(parse("last 1,000,000"), range(0, ALL, 1_000_000));
    assert_eq!(parse("Last1000"), range(0, ALL, 1000));
    assert_eq!(parse("2,000,000..3,000,000"), range(2_000_000, 3_000_001, ALL));
    assert_eq!(parse(" 10 – 12 "), range(10, 13, ALL));
    assert_eq!(parse("10-12"), range(10, 13, ALL));
    assert_eq!(parse("10.."), range(10, ALL, ALL));
    assert_eq!(parse("..12"), range(0, 13, ALL));
    assert_eq!(parse("all"), Some(LoadRange::ALL));
    for wrong in ["", "last", "last 0", "12..10", "a..b", "10", "5000000000..", "last -1"] {
        assert_eq!(parse(wrong), None, "{wrong}");
    }
}

#[test]
fn formatted_range_parses_to_original_range() {
    for (from, to, max_events) in [(0, u32::MAX, 1), (5, 6, u32::MAX), (5, u32::MAX, u32::MAX), (0, 1000, u32::MAX)] {
        let range = LoadRange { from, to, max_events };
        assert_eq!(parse(&to_text(range)), Some(range), "{}", to_text(range));
    }
}
