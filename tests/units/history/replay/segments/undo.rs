//! Unit tests of `src/history/replay/segments/undo.rs`.

use super::*;

const KIND: RangeInfo = RangeInfo { kind: 0, starts_segment: true, segment: u32::MAX };

fn ranges(open: &BTreeMap<u64, OpenRange>) -> Vec<(u64, u64)> {
    open.iter().map(|(&from, open)| (from, open.end)).collect()
}

#[test]
fn unmapping_the_middle_splits_a_range() {
    let (mut lives, mut open) = (SegmentLifetimes::default(), BTreeMap::new());
    assert_eq!(lives.add_range(&mut open, [10, 50], NEVER, KIND), 40);
    assert_eq!(lives.remove_range(&mut open, [20, 30], 7), 10);
    assert_eq!(ranges(&open), [(10, 20), (30, 50)]);
    assert_eq!(open.values().map(|open| open.facts.starts_segment).collect::<Vec<_>>(), [true, false]);
    let row = lives.rows.at(0);
    assert_eq!((row.address, row.size, row.allocated_at, row.freed_at), (20, 10, 7, NEVER));
    // Half of the range is not mapped: the file is inconsistent.
    assert_eq!((lives.remove_range(&mut open, [45, 60], 3), lives.missing_bytes), (5, 10));
}

#[test]
fn mapping_fills_gaps_around_existing_ranges() {
    let (mut lives, mut open) = (SegmentLifetimes::default(), BTreeMap::new());
    lives.add_range(&mut open, [20, 30], NEVER, KIND);
    assert_eq!(lives.add_range(&mut open, [10, 50], 9, KIND), 30);
    assert_eq!(ranges(&open), [(10, 20), (20, 30), (30, 50)]);
    assert_eq!(lives.add_range(&mut open, [15, 45], 4, KIND), 0);
    assert_eq!(lives.add_range(&mut open, [5, 15], 4, KIND), 5);
}
