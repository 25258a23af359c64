//! Unit tests of `src/ui/features/histograms.rs`.

use super::*;
use protocol::{lifetime_class, size_class};

#[test]
fn classes_are_labelled_with_exact_bounds() {
    let size = |bytes: u64| class_text(Histogram::Sizes, size_class(bytes));
    let cases = [
        (0, "0 B"),
        (1, "1 B"),
        (512, "512 B–1 KiB"),
        (1023, "512 B–1 KiB"),
        (1024, "1–2 KiB"),
        (65_536, "64–128 KiB"),
        (u64::MAX, "8–16 EiB"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(size(bytes), expected);
    }
    let life = |allocated_at, freed_at| class_text(Histogram::Lifetimes, lifetime_class(allocated_at, freed_at));
    assert_eq!(life(5, 5), "no event");
    assert_eq!(life(5, 6), "1 event");
    assert_eq!((life(5, 7), life(5, 8), life(5, 9)), ("2–3 events".into(), "2–3 events".into(), "4–7 events".into()));
    assert_eq!(life(1, 1 << 20 | 1), "1,048,576–2,097,151 events");
    assert_eq!(
        (life(0, 7), life(0, u32::MAX), life(9, u32::MAX)),
        ("allocated before recording".into(), "never freed".into(), "never freed".into())
    );
    assert_eq!(selection_text(Histogram::Sizes, [11, 20]), "1 KiB–1 MiB");
    let lives = |classes| selection_text(Histogram::Lifetimes, classes);
    assert_eq!(lives([1, 2]), "1–3 events");
    assert_eq!(lives([3, 34]), "≥ 4 events, allocated before recording, never freed");
    assert_eq!(lives([5, 33]), "≥ 16 events, allocated before recording");
    assert_eq!(lives([1, 33]), "≥ 1 event, allocated before recording");
    assert_eq!(lives([33, 34]), "allocated before recording or never freed");
}

#[test]
fn shift_click_selects_range_of_bars() {
    let weights = [1, 0, 3, 4].map(|count| Weight { bytes: 10, count });
    let mut chosen = None;
    for (class, reach, expected) in [
        (2, ClickMode::Only, [2, 2]),
        (3, ClickMode::Drag(2), [2, 3]),
        (0, ClickMode::Drag(2), [0, 2]),
        // Ends at an empty bar.
        (1, ClickMode::Drag(2), [1, 2]),
        (2, ClickMode::Drag(2), [2, 2]),
    ] {
        click(&weights, &mut chosen, class, reach);
        assert_eq!(chosen, Some(expected));
    }
    click(&weights, &mut chosen, 2, ClickMode::Only);
    assert_eq!(chosen, None);
}

#[test]
fn histogram_axis_labels_follow_measure() {
    let weights = [Weight { bytes: 4096, count: 1 }, Weight { bytes: 1024, count: 1000 }];
    let axis = |measure| chart(Histogram::Sizes, &weights, None, measure).axis;
    assert_eq!(axis(Measure::Bytes), ["Requested bytes", "4.00 KiB", "2.00 KiB"]);
    assert_eq!(axis(Measure::Count), ["Allocations", "1,000", "500"]);
}
