//! File names of tools that write one snapshot per rank.

use super::{ParsedName, parse_names};

/// Rank, step, host, is OOM, is exit of a file name.
type Said = (Option<u32>, Option<u64>, Option<&'static str>, bool, bool);

const ALONE: [(&str, Said); 17] = [
    // torchtitan
    ("step_000000000100/000003_step_100.pickle", (Some(3), Some(100), None, false, false)),
    ("step_000000000100_exit/000000_step_100.pickle", (Some(0), Some(100), None, false, true)),
    ("iteration_40/rank2_memory_snapshot.pickle", (Some(2), Some(40), None, false, false)),
    ("iteration_40_exit/rank2_memory_snapshot.pickle", (Some(2), Some(40), None, false, true)),
    // Megatron-LM and Megatron-Bridge
    ("oom_rank-7_snapshot.pickle", (Some(7), None, None, true, false)),
    ("snapshot_oom_rank-12.pickle", (Some(12), None, None, true, false)),
    // composer
    ("rank5.1200.memory_snapshot.pickle", (Some(5), Some(1200), None, false, false)),
    ("rank5_oom_snapshot.pickle", (Some(5), None, None, true, false)),
    // lmms-engine
    ("oom_rank4.pickle", (Some(4), None, None, true, false)),
    ("snapshot_stop_step_rank9.pickle", (Some(9), None, None, false, false)),
    // slime
    ("oom_snap_Node-17_rank6.pickle", (Some(6), None, Some("Node-17"), true, false)),
    ("oom_snap_node17_rank6_actor.pickle", (Some(6), None, Some("node17"), true, false)),
    // NeMo
    ("memory_snapshot_rank1_batch30.pickle", (Some(1), Some(30), None, false, false)),
    ("memory_snapshot_rank1_step30.pkl", (Some(1), Some(30), None, false, false)),
    ("memory_snapshot_rank1_t1700000000.pt", (Some(1), None, None, false, false)),
    // verl
    ("oom_20260101_120000/rank=3.pickle", (Some(3), None, None, true, false)),
    ("headroom/rank_010.pickle.gz", (Some(10), None, None, false, false)),
];

#[test]
fn names_of_known_tools_are_parsed() {
    for (name, (rank, step, host, is_oom, is_exit)) in ALONE {
        let parsed = ParsedName { rank, step, host: host.map(str::to_owned), is_oom, is_exit, coords: Vec::new() };
        assert_eq!(parse_names(&[name]), [parsed], "{name}");
    }
}

#[test]
fn trailing_numbers_are_ranks_if_contiguous_from_zero() {
    let ranks = |names: &[&str]| parse_names(names).iter().map(|named| named.rank).collect::<Vec<_>>();
    // Megatron-LM, Megatron-Bridge, and one file per pipeline stage.
    assert_eq!(ranks(&["snapshot_2.pickle", "snapshot_0.pickle", "snapshot_1.pickle"]), [Some(2), Some(0), Some(1)]);
    assert_eq!(ranks(&["run/1.pickle", "run/0.pickle"]), [Some(1), Some(0)]);
    // With a gap, the numbers are not ranks.
    assert_eq!(ranks(&["s_7.pickle", "s_3.pickle"]), [None, None]);
    // If some names contain `rank`, names without it have none.
    assert_eq!(ranks(&["rank1.pickle", "other.pickle"]), [Some(1), None]);
    // A number of more than 32 bits is not a rank.
    assert_eq!(ranks(&["rank1.pickle", "rank99999999999999999999.pickle"]), [Some(1), None]);
}

#[test]
fn host_is_parsed_from_default_pytorch_name() {
    let names = ["gpu-b_Nov_23_19_21_00.pickle", "gpu-a_Nov_23_19_21_00.pickle"];
    let found = parse_names(&names);
    let hosts: Vec<_> = found.iter().map(|named| (named.rank, named.host.as_deref())).collect();
    assert_eq!(hosts, [(None, Some("gpu-b")), (None, Some("gpu-a"))]);
}
