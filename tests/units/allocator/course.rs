//! Thinning of curves: few changes are kept exactly, many are reduced to the minimum and maximum of each part.

use super::{Curve, MAX_POINTS, PARTS};
use proptest::prelude::*;

/// Returns the bytes after each event, expanded from the points of a curve.
fn expanded(at_start: u64, points: &[(u32, u64)], events: u32) -> Vec<u64> {
    let (mut now, mut rest) = (at_start, points.iter().peekable());
    let bytes = (0..events).map(|event| {
        while let Some((_, bytes)) = rest.next_if(|point| point.0 <= event) {
            now = *bytes;
        }
        now
    });
    bytes.collect()
}

fn curve(at_start: u64, levels: &[u64]) -> (Vec<(u32, u64)>, bool) {
    let mut curve = Curve::new(levels.len() as u32, at_start);
    (0..).zip(levels).for_each(|(event, bytes)| curve.add(event, *bytes));
    assert_eq!(curve.at_start(), at_start);
    curve.points()
}

#[test]
fn curve_with_few_changes_is_exact() {
    let levels = [5, 5, 7, 7, 3, 5];
    assert_eq!(curve(5, &levels), (vec![(2, 7), (4, 3), (5, 5)], false));
    let most: Vec<u64> = (1..=MAX_POINTS as u64).collect();
    let (points, is_thinned) = curve(0, &most);
    assert_eq!((points.len(), is_thinned), (MAX_POINTS, false));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(12) })]

    #[test]
    fn thinned_curve_keeps_minimum_and_maximum_of_each_part(
        seed in any::<u64>(), extra in 1..200_000u32, calm in 1..40u64, at_start in 0..50u64,
    ) {
        let events = MAX_POINTS as u32 * 2 + extra;
        let mut state = seed | 1;
        let mut level = at_start;
        let levels: Vec<u64> = (0..events)
            .map(|event| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // A long range without changes, and single events that change nothing.
                if !(100_000..110_000).contains(&event) && (state >> 33) % calm < calm.div_ceil(2) {
                    level = (state >> 40) % 1000;
                }
                level
            })
            .collect();
        let changes = levels.iter().zip([&at_start].into_iter().chain(&levels)).filter(|(now, before)| now != before);
        let is_many = changes.count() > MAX_POINTS;
        let (points, is_thinned) = curve(at_start, &levels);
        prop_assert_eq!(is_thinned, is_many);
        prop_assert!(points.len() <= MAX_POINTS);
        prop_assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1));
        let drawn = expanded(at_start, &points, events);
        let width = if is_thinned { events.div_ceil(PARTS) as usize } else { 1 };
        let ends = |part: &[u64]| (part.iter().min().copied(), part.iter().max().copied());
        let mut before = (at_start, at_start);
        for (part, (drawn, levels)) in drawn.chunks(width).zip(levels.chunks(width)).enumerate() {
            // Drawn values occur in the part and include its minimum and maximum. The last value of the previous part
            // may extend into this one.
            let (least, most) = ends(levels);
            let (low, high) = ends(drawn);
            prop_assert!(drawn.contains(&least.unwrap()) || before.0 == least.unwrap(), "part {}", part);
            prop_assert!(drawn.contains(&most.unwrap()) || before.1 == most.unwrap(), "part {}", part);
            let reach = |bytes: u64| levels.contains(&bytes) || Some(&bytes) == drawn.first();
            prop_assert!(low.is_some_and(reach) && high.is_some_and(reach), "part {}", part);
            before = (*drawn.last().unwrap(), *drawn.last().unwrap());
        }
    }
}
