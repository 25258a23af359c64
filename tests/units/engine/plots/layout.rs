//! Unit tests of `src/engine/plots/layout.rs`.

use super::*;

#[test]
fn touching_ranges_are_merged() {
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
