//! Fragmentation, pools and settings of small hand-written files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::opened;
use crate::reported;

use memscape::protocol::{Report, Statement, Topic};
use opened::{Opened, open};
use reported::{number, report_of, report_request, sheet, text};
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;

fn event(action: &str, addr: u64, size: u64) -> Value {
    json!({"action": action, "addr": addr, "size": size, "stream": 0, "frames": []})
}

/// Builds a segment of the default pool with live blocks, given as address and size.
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
    report_of(opened.reply(report_request(0, topic, None, &[])))
}

/// Events do not record pools, so freed segments are listed under the default pool.
#[test]
fn freed_segments_are_listed_under_default_pool() {
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
    let actual = ["segments", "reserved_bytes", "live_bytes", "free_bytes"].map(|key| number(moment, row, key));
    assert_eq!(actual, [2, 60 * MIB, 38 * MIB, 22 * MIB].map(i128::from), "at the peak of requested bytes");
    let statement = &fragmentation.statements[0].text;
    assert!(
        statement.starts_with("Fragmentation after event 0 (the peak): ≤ 36.7 % of 60.0 MiB reserved, ≤ 22.0 MiB free"),
        "{statement}"
    );

    // Free bytes of the pools sum to those of the segments.
    let pools = report(&mut opened, Topic::Pools);
    let pools = sheet(&pools, "pools");
    let place = pools.columns.iter().position(|column| column.key == "free_bytes").unwrap();
    assert_eq!(pools.total[place], memscape::protocol::Cell::Bytes(22 * MIB));
}

/// Builds a file with four segments, each kept by a small block. Allocates `used` bytes in the rest of each segment and
/// frees them again.
fn segments_with_small_blocks(used: u64) -> Opened {
    let places = [1, 2, 3, 4].map(|place| place << 30);
    let segments = places.map(|at| segment(at, 512 * MIB, &[[at, 16 * MIB]]));
    let mut trace = vec![];
    for action in ["alloc", "free_requested", "free_completed"] {
        trace.extend(places.map(|at| event(action, at + 16 * MIB, used)));
    }
    file(&segments, &trace)
}

/// After two failed requests, settings and fragmentation describe the newest, like the out-of-memory report.
#[test]
fn reports_describe_newest_failed_request() {
    let oom =
        |size: u64, free: u64| json!({"action": "oom", "device_free": free, "size": size, "stream": 0, "frames": []});
    let a = 1 << 30;
    let trace = [
        event("segment_alloc", a, 1024 * MIB),
        event("alloc", a, 24 * MIB),
        oom(2048 * MIB, 7 * MIB),
        event("alloc", a + 24 * MIB, 753 * MIB),
        oom(512 * MIB, 247 * MIB),
    ];
    let mut opened = file(&[segment(a, 1024 * MIB, &[[a, 24 * MIB], [a + 24 * MIB, 753 * MIB]])], &trace);
    let settings = report(&mut opened, Topic::Settings);
    let checks = sheet(&settings, "checks");
    let failed = checks.rows.iter().find(|row| text(checks, row, "check").contains("at the OOM")).unwrap();
    let actual = ["found_bytes", "whole_bytes", "event"].map(|key| number(checks, failed, key));
    assert_eq!(
        actual,
        [i128::from(247 * MIB), i128::from(1024 * MIB), 3],
        "free bytes when the request of event 4 failed"
    );
    assert!(text(checks, failed, "detail").starts_with("512 MiB requested"), "{failed:?}");
    assert_eq!(text(checks, failed, "hint"), "no", "too little free memory in total");
    let fragmentation = report(&mut opened, Topic::Fragmentation);
    let statement = fragmentation.statements.iter().find(|it| it.text.contains("OOM at event")).unwrap();
    assert!(statement.text.contains("at event 4:") && statement.text.contains("247 MiB"), "{}", statement.text);
    // Without a failed request there is no event.
    let mut quiet = file(&[segment(a, 1024 * MIB, &[[a, 24 * MIB]])], &trace[..2]);
    let settings = report(&mut quiet, Topic::Settings);
    let checks = sheet(&settings, "checks");
    let failed = checks.rows.iter().find(|row| text(checks, row, "check").contains("at the OOM")).unwrap();
    assert_eq!(reported::cell(checks, failed, "event"), &memscape::protocol::Cell::Empty);
}

/// The driver's part refers to the reserved peak, even if the peak of requested bytes is earlier.
#[test]
fn sentence_about_driver_memory_refers_to_reserved_peak() {
    let [a, b] = [1 << 30, 2 << 30];
    let trace = [
        event("segment_alloc", a, 100 * MIB),
        event("alloc", a, 90 * MIB),
        event("free_requested", a, 90 * MIB),
        event("free_completed", a, 90 * MIB),
        event("alloc", a, 4 * MIB),
        event("segment_alloc", b, 40 * MIB),
        event("alloc", b, 38 * MIB),
    ];
    let mut opened = file(&[segment(a, 100 * MIB, &[[a, 4 * MIB]]), segment(b, 40 * MIB, &[[b, 38 * MIB]])], &trace);
    let actual = report(&mut opened, Topic::Fragmentation);
    let statement = actual.statements.iter().find(|it| it.text.contains("driver was asked")).unwrap();
    let begins = "Peak reserved: 140 MiB at event 5. The driver was asked for 40.0 MiB";
    assert!(statement.text.starts_with(begins) && !statement.text.contains("get there"), "{}", statement.text);
}

/// max_split_size_mb together with expandable segments lets reserved memory grow without bound.
#[test]
fn conflicting_settings_raise_alarm() {
    use memscape::protocol::Tone;
    let alarms = |settings: Value| {
        let value = json!({"segments": [segment(1 << 30, 20 * MIB, &[[1 << 30, 8 * MIB]])], "device_traces": [[]], "allocator_settings": settings});
        let mut opened = open(value.to_string().as_bytes()).unwrap();
        let report = report(&mut opened, Topic::Settings);
        let statement =
            report.statements.iter().filter(|it| it.tone == Tone::Alarm && it.text.contains("without bound")).count();
        let sheet = sheet(&report, "settings").clone();
        (statement, sheet)
    };
    let conf = "expandable_segments:True,max_split_size_mb:128,throw_on_cudamalloc_oom:True,roundup_power2_divisions:[256:1,>:8]";
    assert_eq!(alarms(json!({"max_split_size": 134_217_728, "expandable_segments": true})).0, 1);
    assert_eq!(alarms(json!({"max_split_size": -1, "expandable_segments": true})).0, 0);
    assert_eq!(alarms(json!({"max_split_size": 134_217_728, "expandable_segments": false})).0, 0);
    let (alarms, settings) = alarms(json!({"PYTORCH_CUDA_ALLOC_CONF": conf}));
    assert_eq!(alarms, 1, "from the configuration string alone");
    let row = settings.rows.iter().find(|row| text(&settings, row, "setting") == "throw_on_cudamalloc_oom").unwrap();
    assert_eq!((text(&settings, row, "value"), text(&settings, row, "is_default")), ("True", "no"));
    assert!(text(&settings, row, "description").contains("before the driver is asked"));
}

/// A trace that starts with a full cache is healthy if the cache is used later.
#[test]
fn free_memory_in_partly_used_segments_is_reported() {
    let hints = |used| {
        let statement = report(&mut segments_with_small_blocks(used), Topic::Settings).statements;
        let is_hint = |it: &&Statement| it.text.starts_with("Small blocks pin large segments");
        statement.iter().filter(is_hint).map(|it| it.text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(hints(480 * MIB), Vec::<String>::new(), "all of the cache is used at the peak");
    let actual = hints(MIB);
    assert!(actual.len() == 1 && actual[0].contains(": ≤ 1.93 GiB cannot be released"), "{actual:?}");
}
