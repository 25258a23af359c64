//! Unit tests of `src/engine/marks.rs`.

use super::*;
use history::snapshot::StringId;

#[test]
fn annotations_in_a_lane_do_not_overlap() {
    let range = |start_us, end_us| AnnotationRange { name: StringId(0), start_us, end_us };
    let mut lanes = Lanes::default();
    let ranges = [(0, Some(100)), (10, Some(20)), (20, Some(40)), (30, None), (50, Some(60)), (100, Some(110))];
    let lanes: Vec<u32> = ranges.iter().map(|&(start, end)| lanes.assign(&range(start, end))).collect();
    assert_eq!(lanes, [0, 1, 1, 2, 1, 0]);
}

#[test]
fn shared_prefix_ends_at_word_or_number_boundary() {
    let names = [
        "step_28",
        "step_29",
        "step_3",
        "Optimizer.step#A",
        "Optimizer.zero_grad#A",
        "forward",
        "layer 12 mlp",
        "layer 12 attn",
    ];
    let mut beginnings = NamePrefixes::default();
    for (id, name) in (0u32..).zip(names) {
        beginnings.add(StringId(id), name);
        // A repeated name changes nothing.
        beginnings.add(StringId(id), name);
    }
    let rest = |name: &'static str| name.get(beginnings.shared_prefix_len(name) as usize..);
    let rests: Vec<_> = names.into_iter().filter_map(rest).collect();
    assert_eq!(rests, ["28", "29", "3", "step#A", "zero_grad#A", "forward", "mlp", "attn"]);
}
