//! Unit tests of `src/ui/session/heading.rs`.

use super::*;
use crate::state::effect::Origin;
use crate::state::stage::SnapshotChoice;

#[test]
fn heading_keeps_the_part_of_a_name_that_differs() {
    let of = |names: &[&str], index: usize| {
        let choice = |name: &&str| SnapshotChoice {
            origin: Origin::File(0),
            member: None,
            file: (*name).to_owned(),
            path: None,
            bytes: Some(1),
            load: None,
        };
        let snapshots = names.iter().map(choice).collect();
        let (name, shared) = heading(&Shared { snapshots, snapshot_index: index, ..Shared::default() });
        let (beginning, rest) = name.split_at(shared);
        format!("{beginning}|{rest}")
    };
    let ranks = ["run/2026_memory_rank_1.pickle", "run/2026_memory_rank_12.pickle"];
    assert_eq!(of(&ranks, 1), "2026_memory_rank_|12.pickle");
    let apart = ["before.pickle", "after_the_change_of_the_optimizer.pickle"];
    assert_eq!(of(&["flat-script-loop.pickle"], 0), "|", "one file is not listed, and none is open");
    assert_eq!([of(&apart, 0), of(&apart, 1)], ["|before.pickle", "|after_the_change_of_the_optimizer.pickle"]);
    let short = ["oom.default.pickle.gz", "train.default.pickle.gz"];
    assert_eq!([of(&short, 0), of(&short, 1)], ["|oom.default.pickle.gz", "|train.default.pickle.gz"]);
}
