//! Traits of private pools inferred from the blocks of a snapshot.

use crate::files::written;

#[test]
fn private_pool_without_split_blocks_is_inferred_as_no_split() {
    let segment = |address: u64, pool: u32, size: u64, blocks: &str| {
        let kind = if size == 2 << 20 { "small" } else { "large" };
        format!(
            r#"{{"device":0,"address":{address},"total_size":{size},"stream":0,"segment_type":"{kind}","segment_pool_id":[0,{pool}],"blocks":[{blocks}]}}"#
        )
    };
    let block = |size: u64, requested: u64, state: &str| {
        format!(r#"{{"size":{size},"requested_size":{requested},"state":"{state}","frames":[]}}"#)
    };
    let (small, large) = (2u64 << 20, 20u64 << 20);
    let whole = |size: u64, requested: u64| block(size, requested, "active_allocated");
    let split = [whole(512, 500), block(small - 512, 0, "inactive")].join(",");
    let segments = [
        segment(1 << 40, 1, large, &whole(large, 3 << 20)),
        segment(2 << 40, 1, small, &whole(small, 500)),
        // A split segment shows that its pool splits. A small remainder or a cached segment shows nothing.
        segment(3 << 40, 2, large, &whole(large, 3 << 20)),
        segment(4 << 40, 2, small, &split),
        segment(5 << 40, 3, large, &whole(large, large - 4096)),
        segment(6 << 40, 4, large, &block(large, 0, "inactive")),
        // The default pool always splits.
        segment(7 << 40, 0, large, &whole(large, 3 << 20)),
    ];
    let event = r#"{"action":"alloc","addr":7696581394432,"size":3145728,"stream":0,"frames":[]}"#;
    let recordings = written(&format!(r#"{{"segments":[{}],"device_traces":[[{event}]]}}"#, segments.join(",")));
    let recording = &recordings[0];
    assert_eq!(recording.pools, [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4)]);
    assert_eq!(recording.no_split, [1]);
    let traits = recording.traits();
    assert!(traits[1].no_split && traits.iter().filter(|traits| traits.no_split).count() == 1);
}
