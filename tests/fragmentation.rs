//! Fragmentation, pools and settings of small made files: what belongs together is told together, and a hint has its reason.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::opened;
use crate::reported;

use memscape::engine::protocol::{Report, Topic};
use opened::{Opened, open};
use reported::{asked, number, of, sheet, text};
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;

fn event(action: &str, addr: u64, size: u64) -> Value {
    json!({"action": action, "addr": addr, "size": size, "stream": 0, "frames": []})
}

/// A segment of the default pool with these live blocks: address and bytes.
fn segment(address: u64, size: u64, blocks: &[[u64; 2]]) -> Value {
    let block = |&[address, size]: &[u64; 2]| json!({"address": address, "size": size, "requested_size": size, "state": "active_allocated", "frames": []});
    json!({"device": 0, "address": address, "total_size": size, "stream": 0, "segment_type": "large",
           "segment_pool_id": [0, 0], "is_expandable": false, "blocks": blocks.iter().map(block).collect::<Vec<Value>>()})
}

fn file(segments: &[Value], trace: &[Value]) -> Opened {
    let value = json!({"segments": segments, "device_traces": [trace]});
    open(&serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap()).unwrap()
}

fn report(opened: &mut Opened, topic: Topic) -> Report {
    of(opened.reply(asked(0, topic, None, &[])))
}

/// Events do not tell pools: what is gone by the end serves the same requests as what is still there.
#[test]
fn segments_of_which_the_pool_is_not_known_are_told_with_those_of_the_default_pool() {
    let [a, b] = [100 * MIB, 200 * MIB];
    let trace = [
        event("alloc", b, 30 * MIB),
        event("free_requested", b, 30 * MIB),
        event("free_completed", b, 30 * MIB),
        event("segment_free", b, 40 * MIB),
    ];
    let mut opened = file(&[segment(a, 20 * MIB, &[[a, 8 * MIB]])], &trace);
    let fragmentation = report(&mut opened, Topic::Fragmentation);
    let moment = sheet(&fragmentation, "moment");
    assert_eq!(moment.rows.len(), 1, "{:?}", moment.rows);
    let row = &moment.rows[0];
    assert_eq!(text(moment, row, "pool"), "default, large blocks");
    let told = ["segments", "reserved_bytes", "live_bytes", "free_bytes"].map(|key| number(moment, row, key));
    assert_eq!(told, [2, 60 * MIB, 38 * MIB, 22 * MIB].map(i128::from), "at the peak of requested bytes");
    let said = &fragmentation.statements[0].text;
    assert!(
        said.starts_with("Fragmentation after event 0 (the peak): ≤ 36.7 % of 60.0 MiB reserved, ≤ 22.0 MiB free"),
        "{said}"
    );

    // All that the pools leave free is what the state has free.
    let pools = report(&mut opened, Topic::Pools);
    let pools = sheet(&pools, "pools");
    let place = pools.columns.iter().position(|column| column.key == "free_bytes").unwrap();
    assert_eq!(pools.total[place], memscape::engine::protocol::Cell::Bytes(22 * MIB));
}

/// Four segments that a small block each keeps, in one of which memory is short; `used`: whether the rest of them is used at the peak.
fn kept_by_small_blocks(used: u64) -> Opened {
    let places = [1, 2, 3, 4].map(|place| place << 30);
    let segments = places.map(|at| segment(at, 512 * MIB, &[[at, 16 * MIB]]));
    let mut trace = vec![];
    for action in ["alloc", "free_requested", "free_completed"] {
        trace.extend(places.map(|at| event(action, at + 16 * MIB, used)));
    }
    file(&segments, &trace)
}

/// A trace that begins with a full cache is healthy if the cache is used later.
#[test]
fn what_small_blocks_leave_is_a_fault_only_if_nothing_uses_it() {
    let hints = |used| {
        let said = report(&mut kept_by_small_blocks(used), Topic::Settings).statements;
        said.iter().filter(|it| it.text.contains("max_split_size_mb")).map(|it| it.text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(hints(480 * MIB), Vec::<String>::new(), "all of it is used at the peak");
    let told = hints(MIB);
    assert!(
        told.len() == 1 && told[0].starts_with("Small blocks pin large segments: ≤ 1.93 GiB cannot be released"),
        "{told:?}"
    );
}
