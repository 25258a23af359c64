//! Tests of `src/engine/plots/layout.rs`, a module of its: they reach what is private there.

use super::*;

#[test]
fn ranges_that_touch_are_one() {
    let mut ranges = Ranges::new();
    for range in [[10, 20], [30, 40], [50, 60], [20, 29], [5, 5]] {
        insert(&mut ranges, range, 0);
    }
    assert_eq!(ranges.iter().collect::<Vec<_>>(), [(&10, &29), (&30, &40), (&50, &60)]);
    insert(&mut ranges, [29, 50], 0);
    assert_eq!(ranges.iter().collect::<Vec<_>>(), [(&10, &60)]);
    insert(&mut ranges, [62, 63], 2);
    insert(&mut ranges, [5, 8], 2);
    assert_eq!(ranges.iter().collect::<Vec<_>>(), [(&5, &63)]);
}
