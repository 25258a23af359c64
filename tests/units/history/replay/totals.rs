//! Unit tests of `src/history/replay/totals.rs`.

use super::*;
use base::heap::HeapBytes;
use proptest::prelude::*;

/// Returns the total at every moment, added up one by one.
fn plain(base: i64, changes: &[i64]) -> Vec<i64> {
    let mut totals = vec![base];
    changes.iter().for_each(|change| totals.push(totals.last().unwrap() + change));
    totals
}

proptest! {
    #[test]
    fn maximum_query_returns_first_maximum_of_range(
        base in -50i64..50,
        changes in prop::collection::vec(-3i64..=3, 0..5000),
        cuts in prop::collection::vec((0.0..1.0f64, 0.0..1.0f64), 20),
    ) {
        let expected = plain(base, &changes);
        let change = |event: EventIdx| changes[event.0 as usize];
        let totals = Totals::build(changes.len() as u32, base, change);
        let curve = Curve::new(&totals, &change);
        prop_assert_eq!(totals.moment_count() as usize, expected.len());
        prop_assert_eq!(Some(&totals.last()), expected.last());
        let whole = std::iter::once((0.0, 1.0));
        for (from, to) in cuts.into_iter().chain(whole) {
            let cut = |share: f64| (share * expected.len() as f64) as usize;
            let range = cut(from)..cut(to);
            let best = range.clone().fold(None, |best: Option<usize>, at| match best {
                Some(best) if expected[best] >= expected[at] => Some(best),
                _ => Some(at),
            });
            prop_assert_eq!(
                curve.max_in(range.start as u32..range.end as u32),
                best.map(|at| (Moment(at as u32), expected[at]))
            );
            if let Some(total) = expected.get(range.start) {
                prop_assert_eq!(curve.at(Moment(range.start as u32)), *total);
            }
        }
    }
}

#[test]
fn totals_take_less_than_half_a_byte_per_event() {
    let totals = Totals::build((1 << 22) - 1, 0, |_| 1);
    assert!(totals.heap_bytes() < (1 << 22) * 2 / 5, "{}", totals.heap_bytes());
}
