//! Tests of `src/ui/features/histograms.rs`, a module of its: they reach what is private there.

use super::*;
use engine::protocol::{life_class, size_class};

#[test]
fn classes_are_told_exactly() {
    let size = |bytes: u64| range(Histogram::Sizes, size_class(bytes));
    let cases = [
        (0, "0 B"),
        (1, "1 B to under 2 B"),
        (512, "512 B to under 1 KiB"),
        (1023, "512 B to under 1 KiB"),
        (1024, "1 KiB to under 2 KiB"),
        (65_536, "64 KiB to under 128 KiB"),
        (u64::MAX, "8 EiB to under 16 EiB"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(size(bytes), expected);
    }
    let life = |born, died| range(Histogram::Lives, life_class(born, died));
    assert_eq!(life(5, 5), "no event");
    assert_eq!(life(5, 6), "1 event");
    assert_eq!(
        (life(5, 7), life(5, 8), life(5, 9)),
        ("2 to under 4 events".into(), "2 to under 4 events".into(), "4 to under 8 events".into())
    );
    assert_eq!(life(1, 1 << 20 | 1), "1,048,576 to under 2,097,152 events");
    assert_eq!(
        (life(0, 7), life(0, u32::MAX), life(9, u32::MAX)),
        ("allocated before recording".into(), "never freed".into(), "never freed".into())
    );
    assert_eq!(chosen(Histogram::Sizes, [11, 20]), "1 KiB to under 1 MiB");
    let lives = |classes| chosen(Histogram::Lives, classes);
    assert_eq!(lives([1, 2]), "1 to under 4 events");
    assert_eq!(lives([3, 34]), "4 events and longer, allocated before recording, never freed");
    assert_eq!(lives([5, 33]), "16 events and longer, allocated before recording");
    assert_eq!(lives([33, 34]), "allocated before recording or never freed");
}
