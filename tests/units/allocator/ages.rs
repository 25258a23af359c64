//! Ages of segments that existed before the recording.

use crate::files::{event, proved, segment, trace};
use crate::{BlockOrder, Recording};

/// Two free segments of 30 MiB before the first event; requests are placed at these addresses.
fn late(placed: [u64; 2], pool: &str) -> Recording {
    let events = placed.map(|gib| event("alloc", gib, 30, pool));
    trace(&[segment(1, 30, true, ""), segment(2, 30, true, "")], &events)
}

#[test]
fn segment_age_is_inferred_from_block_placement() {
    let pool = r#","pool_id":[0,0]"#;
    for (placed, numbers) in [([1, 2], [1 << 30, 2 << 30]), ([2, 1], [1 << 30, 1 << 29])] {
        let (recording, proof) = proved(late(placed, pool));
        assert_eq!(proof.backend.order, BlockOrder::Segment);
        assert!(proof.verdict.is_exact(), "{placed:?}: {proof:?}");
        assert_eq!(recording.findings.start_numbers, numbers, "{placed:?}");
    }
}

#[test]
fn blocks_are_ordered_by_address_without_pool_ids() {
    let (_, proof) = proved(late([1, 2], ""));
    assert!(proof.verdict.is_exact() && proof.backend.order == BlockOrder::Address);
    let (_, proof) = proved(late([2, 1], ""));
    assert_eq!(proof.verdict.departs_at, Some(0), "PyTorch up to 2.11 takes the lower address");
}
