//! Pools of segments in files whose events do not name them.

use crate::files::{event, proved, segment, trace};

#[test]
fn allocation_has_pool_of_its_segment_at_that_event() {
    let events = [
        event("segment_alloc", 1, 30, ""),
        event("alloc", 1, 30, ""),
        event("free_requested", 1, 30, ""),
        event("free_completed", 1, 30, ""),
        event("segment_free", 1, 30, ""),
        // The same address again, now in a private pool.
        event("segment_alloc", 1, 30, ""),
        event("alloc", 1, 30, ""),
    ];
    let recording = trace(&[segment(1, 30, true, r#","segment_pool_id":[0,7]"#)], &events);
    assert!(recording.guesses_pools && !recording.names_pools);
    let pools = recording.allocations.iter().map(|allocation| recording.place(allocation.place).pool);
    assert_eq!(pools.collect::<Vec<_>>(), [0, 1]);
    assert_eq!(recording.releases[0].pool, 0);
    let (_, proof) = proved(recording);
    assert!(proof.verdict.is_exact() && proof.guesses_pools, "the first segment may have been of another pool");
}
