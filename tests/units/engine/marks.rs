//! Tests of `src/engine/marks.rs`, a module of its: they reach what is private there.

use super::*;
use history::snapshot::StringId;

#[test]
fn ranges_of_a_lane_do_not_overlap() {
    let range = |start_us, end_us| AnnotationRange { name: StringId(0), start_us, end_us };
    let mut lanes = Lanes::default();
    let ranges = [(0, Some(100)), (10, Some(20)), (20, Some(40)), (30, None), (50, Some(60)), (100, Some(110))];
    let lanes: Vec<u32> = ranges.iter().map(|&(start, end)| lanes.of(&range(start, end))).collect();
    assert_eq!(lanes, [0, 1, 1, 2, 1, 0]);
}
