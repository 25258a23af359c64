//! Every version of the snapshot format, from hand-written values: fields read, warnings, and errors with their
//! location.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::opened;

use memscape::protocol::{DeviceSummary, Origin};
use opened::{Opened, open};
use serde_json::{Value, json};

/// Opens a snapshot written by serde-pickle.
fn try_open(value: &Value) -> Result<Opened, String> {
    open(&serde_pickle::to_vec(value, serde_pickle::SerOptions::new()).unwrap())
}

fn opened(value: Value) -> Opened {
    try_open(&value).unwrap_or_else(|error| panic!("{error}"))
}

fn open_error(value: Value) -> String {
    try_open(&value).err().expect("opening fails")
}

/// Kind, count and first location of each warning, except that most of these files have no stacks.
fn warnings(opened: &Opened) -> Vec<(String, u64, String)> {
    let warnings = opened.summary.warnings.iter().filter(|warning| warning.kind != "no_stacks");
    warnings.map(|w| (w.kind.clone(), w.count, w.example.clone())).collect()
}

fn event(action: &str, addr: u64, size: u64) -> Value {
    json!({"action": action, "addr": addr, "size": size, "stream": 0})
}

fn segment(device: i64, address: u64, blocks: Value) -> Value {
    let total: u64 = blocks.as_array().unwrap().iter().map(|block| block["size"].as_u64().unwrap()).sum();
    json!({"device": device, "address": address, "total_size": total, "stream": 0, "segment_type": "large",
           "segment_pool_id": [0, 0], "is_expandable": false, "frames": [], "blocks": blocks})
}

fn live(address: u64, requested: u64) -> Value {
    let size = requested.next_multiple_of(512);
    json!({"address": address, "size": size, "requested_size": requested, "state": "active_allocated", "frames": []})
}

fn with(mut value: Value, key: &str, extra: Value) -> Value {
    value[key] = extra;
    value
}

/// A snapshot with one trace and no segments.
fn trace(events: Value) -> Value {
    json!({"segments": [], "device_traces": [events]})
}

fn single_device(opened: &Opened) -> DeviceSummary {
    let [device] = opened.summary.devices.as_slice() else { panic!("{:?}", opened.summary.devices) };
    device.clone()
}

#[test]
fn torch_1_12_list_of_segments_opens() {
    let blocks = json!([
        {"size": 1024, "state": "active_allocated"},
        {"size": 512, "state": "inactive"},
        {"size": 2048, "state": "active_pending_free",
         "history": [{"addr": 0, "real_size": 1500, "frames": [{"filename": "a.py", "line": 3, "name": "f"}]},
                     {"addr": 0, "real_size": 7}]},
    ]);
    let mut opened = opened(json!([{"device": 0, "address": 4096, "total_size": 3584, "stream": 0,
        "segment_type": "small", "allocated_size": 1024, "active_size": 3072, "blocks": blocks}]));
    let device = single_device(&opened);
    assert_eq!((device.events, device.static_blocks, device.segments), (0, 2, 1));
    assert_eq!((device.static_requested, device.end_rounded, device.peak_requested), (1024 + 1500, 3072, 2524));
    assert_eq!(device.peak_event, -1);
    assert_eq!(opened.summary.torch.as_deref(), Some("1.12 or later"));
    let details = opened.details(0, 1).unwrap();
    assert_eq!(details.address, Some(4096 + 1024 + 512), "derived from the sizes before it");
    assert_eq!((details.requested, details.rounded, details.is_rounded_estimated), (1500, 2048, false));
    assert_eq!(details.frames[0].name, "f", "stack of the newest history entry");
    assert_eq!(details.origin, Origin::Static);
}

#[test]
fn details_show_all_event_fields() {
    let frames = json!([
        {"filename": "??", "line": 0, "name": "malloc"},
        {"filename": "/x/site-packages/torch/nn/linear.py", "line": 125, "name": "forward"},
        {"filename": "/x/train.py", "line": 7, "name": "step", "fx_node_op": "call_function",
         "fx_original_trace": "a\nb"},
    ]);
    let alloc = json!({"action": "alloc", "addr": 512, "size": 1000, "stream": 77, "time_us": 1_700_000_000_000_000u64,
        "compile_context": "[0/1]", "user_metadata": "phase two", "internal_metadata": "mallocWithAddress",
        "category": "activation", "pool_id": [3, 4], "forward_frames": ["one\n", "two\n"], "frames": frames});
    let free = json!({"action": "free_completed", "addr": 512, "size": 1000, "stream": 77,
        "time_us": 1_700_000_000_000_250u64});
    let note = json!({"action": "annotate", "addr": 512, "stream": 77, "user_metadata": "the logits"});
    let marks = json!([
        {"stage": "START", "name": "step", "device": 0, "time_us": 1_699_999_999_999_000u64},
        {"stage": "START", "name": "other", "device": 0, "time_us": 1_700_000_000_000_100u64},
        {"stage": "END", "name": "step", "device": 0, "time_us": 1_700_000_000_000_200u64},
    ]);
    let mut opened = opened(json!({"segments": [], "device_traces": [[alloc, note, free]],
        "external_annotations": marks, "allocator_settings": {"max_split_size": -1,
        "roundup_power2_divisions": {"1": 4}}}));
    let details = opened.details(0, 0).unwrap();
    assert_eq!((details.requested, details.rounded, details.is_rounded_estimated), (1000, 1024, true));
    assert_eq!((details.address, details.stream, details.pool), (Some(512), Some(77), Some((3, 4))));
    assert_eq!((details.allocated_event, details.freed_event), (Some(0), Some(2)));
    assert_eq!(details.freed_us.unwrap() - details.allocated_us.unwrap(), 250);
    assert_eq!(details.compile_context.as_deref(), Some("[0/1]"));
    let metadata: Vec<&str> = details.metadata.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(metadata, ["phase two", "mallocWithAddress", "activation", "the logits"]);
    assert_eq!(details.annotations, ["step"]);
    assert_eq!(details.forward_frames, ["one", "two"]);
    let users: Vec<bool> = details.frames.iter().map(|frame| frame.is_user_code).collect();
    assert_eq!(users, [false, false, true]);
    assert_eq!(details.frames[2].fx.len(), 2);
    assert_eq!(opened.hit(0, 1, 999).unwrap().call_site.as_deref(), Some("the logits · train.py:7 step"));
    assert_eq!(opened.summary.torch.as_deref(), Some("2.15 or later"));
    assert!(opened.summary.settings.contains(&("roundup_power2_divisions.1".into(), "4".into())));
    assert_eq!(warnings(&opened), []);
}

#[test]
fn oom_event_without_address_opens_and_host_memory_is_a_device() {
    let oom = json!({"action": "oom", "device_free": 1 << 20, "size": 1u64 << 33, "stream": 0});
    let opened = opened(json!({
        "segments": [segment(0, 0, json!([live(0, 100)]))],
        "device_traces": [[oom], []],
        "host_segments": [segment(-1, 0, json!([live(0, 300)]))],
        "host_traces": [event("alloc", 0, 300)],
    }));
    let seen: Vec<_> = opened.summary.devices.iter().map(|d| (d.device, d.events, d.peak_requested)).collect();
    assert_eq!(seen, [(0, 1, 100), (-1, 1, 300)]);
    assert!(opened.summary.devices[0].actions.contains(&("oom".to_owned(), 1)));
    assert_eq!(warnings(&opened), []);
}

#[test]
fn unknown_keys_and_actions_are_counted() {
    let colored = |addr| with(event("alloc", addr, 8), "color", json!("red"));
    let mut value = trace(json!([event("alloc", 0, 8), colored(8), colored(16), event("defragment", 0, 0)]));
    value["mood"] = json!({"action": 3, "filename": null});
    value["segments"] = json!([with(
        segment(0, 0, json!([with(live(0, 8), "ripe", json!(true)), live(8, 8), live(16, 8)])),
        "registration_counter",
        json!(4)
    )]);
    let opened = opened(value);
    assert_eq!(
        warnings(&opened),
        [
            ("unknown_key".into(), 1, "segments[0].blocks[0].ripe".into()),
            ("unknown_key".into(), 1, "segments[0].registration_counter".into()),
            ("unknown_key".into(), 2, "device_traces[0][1].color".into()),
            ("unknown_key".into(), 1, "mood".into()),
            ("unknown_action".into(), 1, "device_traces[0][3].action".into()),
        ]
    );
}

#[test]
fn wrong_type_reports_error_with_path() {
    let frames = |frames: Value| trace(json!([with(event("alloc", 0, 8), "frames", frames)]));
    let ok = || event("alloc", 0, 8);
    let cases = [
        (
            trace(json!([ok(), ok(), with(ok(), "size", json!("big"))])),
            "device_traces[0][2].size: expected an integer, found a string",
        ),
        (trace(json!([with(ok(), "size", json!(null)), ok()])), "device_traces[0][0].size: is missing"),
        (
            trace(json!([with(ok(), "size", json!(true)), ok()])),
            "device_traces[0][0].size: expected an integer, found None or a bool",
        ),
        (
            trace(json!([with(ok(), "size", json!(-1))])),
            "device_traces[0][0].size: is not a number of bytes between 0 and 2^63",
        ),
        (trace(json!([{"action": "alloc", "size": 8}])), "device_traces[0][0].addr: is missing"),
        (trace(json!([ok(), 5])), "device_traces[0][1]: expected an event, found an integer"),
        (trace(json!([ok(), {"size": 8}])), "device_traces[0][1].action: is missing"),
        (json!({"device_traces": [[], 5]}), "device_traces[1]: expected a list of events, found an integer"),
        (json!({"device_traces": 5}), "device_traces: expected a list of lists of events, found an integer"),
        (json!({"segments": 5}), "segments: expected a list of segments, found an integer"),
        (
            frames(json!([{"filename": "a", "line": "1", "name": "f"}])),
            "device_traces[0][0].frames[0].line: expected an integer, found a string",
        ),
        (frames(json!(["a"])), "device_traces[0][0].frames[0]: expected a frame, found a string"),
        (
            json!({"segments": [segment(0, 0, json!([live(0, 8)])),
            with(segment(0, 4096, json!([])), "blocks", json!([live(4096, 8), {"size": 512}]))]}),
            "segments[1].blocks[1].state: is missing",
        ),
        (
            json!({"segments": [with(segment(0, 0, json!([])), "total_size", json!([]))]}),
            "segments[0].total_size: expected an integer, found a list",
        ),
        (
            json!({"segments": [], "external_annotations": [{"stage": 3, "name": "x", "time_us": 3}]}),
            "external_annotations[0].stage: expected a string, found an integer",
        ),
        (
            json!({"segments": [], "external_annotations": [{"stage": "START", "name": "x"}]}),
            "external_annotations[0].time_us: is missing",
        ),
        (json!([5]), "[0]: expected a segment, found an integer"),
        (
            json!({"a": 1}),
            "this is not a PyTorch memory snapshot: no 'segments' or 'device_traces' at the top level, only 'a'",
        ),
        (json!("text"), "this is not a PyTorch memory snapshot: no 'segments' or 'device_traces' at the top level"),
    ];
    for (value, expected) in cases {
        assert_eq!(open_error(value.clone()), expected, "{value}");
    }
}

#[test]
fn inconsistent_events_give_warnings() {
    // A second alloc at a live address: the first stays live to the end, as in the reference implementation.
    let twice = opened(with(
        trace(json!([event("alloc", 0, 100), event("alloc", 0, 30)])),
        "segments",
        json!([segment(0, 0, json!([live(0, 30)]))]),
    ));
    let device = single_device(&twice);
    assert_eq!((device.base_requested, device.peak_requested, device.end_requested), (0, 130, 30));
    assert_eq!((device.identity, device.drawn_peak), (false, 130));
    assert_eq!(
        warnings(&twice),
        [
            ("allocated_twice".into(), 1, "device_traces[0][1], 100 B in all".into()),
            ("negative_remainder".into(), 1, "device_traces[0]: 100 B".into()),
        ]
    );
    // A free larger than its alloc, requested twice, for a block that is in no segment.
    let odd = opened(trace(json!([
        event("alloc", 0, 8),
        event("free_requested", 0, 8),
        event("free_requested", 0, 8),
        event("free_completed", 0, 9),
        event("free_requested", 64, 4)
    ])));
    assert_eq!(single_device(&odd).end_requested, 0);
    let kinds: Vec<_> = warnings(&odd).into_iter().map(|(kind, count, _)| (kind, count)).collect();
    assert_eq!(
        kinds,
        [("freed_twice", 1), ("free_of_unknown_block", 1), ("size_of_free_differs", 1), ("unexplained_bytes", 1)]
            .map(|(kind, count)| (kind.to_owned(), count))
    );
}

#[test]
fn bytes_without_recorded_allocation_form_bottom_block() {
    // The live block has more bytes than its alloc: 70 bytes are unexplained.
    let value = with(trace(json!([event("alloc", 0, 30)])), "segments", json!([segment(0, 0, json!([live(0, 100)]))]));
    let mut opened = opened(value);
    let device = single_device(&opened);
    assert_eq!((device.base_requested, device.unexplained_requested, device.identity), (70, 70, false));
    assert_eq!(device.drawn_peak as i64, device.peak_requested);
    assert_eq!(opened.hit(0, 0, 69).unwrap().allocation, 0);
    assert_eq!(opened.details(0, 0).unwrap().origin, Origin::Unexplained);
    assert_eq!(opened.hit(0, 1, 70).unwrap().allocation, 1);
}

#[test]
fn without_free_completed_blocks_end_at_free_requested() {
    let opened = opened(trace(json!([
        event("alloc", 0, 8),
        event("free_requested", 0, 8),
        event("alloc", 0, 8),
        event("free_requested", 0, 8)
    ])));
    let device = single_device(&opened);
    assert_eq!((device.base_requested, device.peak_requested, device.end_requested), (0, 8, 0));
    assert_eq!(warnings(&opened), [("frees_never_complete".into(), 1, "device_traces[0]".into())]);
}

#[test]
fn free_without_alloc_shows_stack_of_free() {
    let frames = json!([{"filename": "train.py", "line": 9, "name": "release"}]);
    let free = |action: &str| with(event(action, 64, 500), "frames", frames.clone());
    let mut opened = opened(trace(json!([free("free_requested"), free("free_completed")])));
    let device = single_device(&opened);
    assert_eq!((device.base_requested, device.unmatched_frees, device.peak_event), (500, 1, -1));
    let details = opened.details(0, 0).unwrap();
    assert_eq!((details.origin, details.is_free_stack, details.allocated_event), (Origin::FreedOnly, true, None));
    assert_eq!((details.free_requested_event, details.freed_event), (Some(0), Some(1)));
    assert_eq!(details.frames[0].name, "release");
}

#[test]
fn block_awaiting_free_at_end_shows_its_stack() {
    let frames = |name: &str| json!([{"filename": "train.py", "line": 9, "name": name}]);
    let free = with(event("free_requested", 64, 500), "frames", frames("release"));
    let mut block = with(live(64, 500), "frames", frames("make"));
    block["state"] = json!("active_pending_free");
    let events = json!([event("alloc", 8192, 1), event("free_completed", 8192, 1), free]);
    let mut opened = opened(with(trace(events), "segments", json!([segment(0, 64, json!([block]))])));
    assert_eq!((single_device(&opened).static_blocks, single_device(&opened).unmatched_frees), (1, 0));
    let details = opened.details(0, 0).unwrap();
    assert_eq!((details.frames[0].name.as_str(), details.is_free_stack), ("make", false));
    assert_eq!(opened.hit(0, 0, 0).unwrap().call_site.as_deref(), Some("train.py:9 make"));
}

#[test]
fn missing_or_negative_first_time_does_not_warn_that_time_decreases() {
    let at = |time: i64| with(event("alloc", time.unsigned_abs(), 1), "time_us", json!(time));
    let opened = opened(trace(json!([event("alloc", 9, 1), at(-8), at(-7)])));
    assert!(!warnings(&opened).iter().any(|(kind, ..)| kind == "time_steps_back"), "{:?}", warnings(&opened));
}

#[test]
fn unknown_block_state_gives_warning_and_counts_as_free() {
    let block = with(live(512, 7), "state", json!("half_asleep"));
    let opened = opened(json!([segment(0, 0, json!([live(0, 512), block]))]));
    assert_eq!(single_device(&opened).end_requested, 512);
    assert_eq!(warnings(&opened), [("unknown_state".into(), 1, "[0].blocks[1].state".into())]);
}

#[test]
fn annotation_with_unknown_stage_is_skipped_with_warning() {
    let mark = |stage: &str, time: u64| json!({"stage": stage, "name": "step", "device": 0, "time_us": time});
    let marks = [mark("START", 1), mark("INSTANT", 2), mark("END", 3), mark("INSTANT", 4), mark("PAUSE", 5)];
    for marks in [marks.to_vec(), marks.into_iter().rev().collect()] {
        let at = |stage: &str| marks.iter().position(|mark| mark["stage"] == stage).unwrap();
        let places = ["INSTANT", "PAUSE"].map(|stage| format!("external_annotations[{}].stage", at(stage)));
        let value = with(trace(json!([event("alloc", 0, 8)])), "external_annotations", json!(marks));
        let value = with(value, "segments", json!([]));
        let opened = opened(value);
        assert_eq!(single_device(&opened).annotations, 2, "{marks:?}");
        let [instant, pause] = places;
        let found = warnings(&opened);
        let stages = found.iter().filter(|(kind, ..)| kind == "unknown_stage");
        let expected = [("unknown_stage".to_owned(), 2, instant), ("unknown_stage".to_owned(), 1, pause)];
        assert_eq!(stages.cloned().collect::<Vec<_>>(), expected, "{found:?}");
    }
}

#[test]
fn nested_top_level_key_is_not_a_snapshot() {
    let frame = json!({"filename": "a.py", "name": "f", "line": 1, "segments": []});
    assert!(open_error(json!({"x": frame})).starts_with("this is not a PyTorch memory snapshot"));
}

#[test]
fn curve_has_mean_median_and_weighted_mean() {
    let at = |action: &str, addr, size, time: u64| with(event(action, addr, size), "time_us", json!(time));
    let events = json!([at("alloc", 0, 10, 0), at("alloc", 64, 90, 30), at("free_completed", 64, 90, 40)]);
    let opened = opened(with(trace(events), "segments", json!([segment(0, 0, json!([live(0, 10)]))])));
    let device = single_device(&opened);
    // Live bytes 0, 10, 100, 10. Weights: 10 for 30 µs, 100 for 10 µs.
    assert_eq!((device.min_requested, device.median_requested, device.mean_requested), (0, 10, 30.0));
    assert_eq!(device.time_weighted_mean_requested, Some((10.0 * 30.0 + 100.0 * 10.0) / 40.0));
}

#[test]
fn integers_beyond_i64_are_read() {
    // Protocol 2 by hand, because serde-pickle cannot write these: {'segments': [], 'device_traces': [[event]]}, an XPU
    // address in nine bytes, and a line of 2^64 − 1.
    let mut bytes = vec![0x80, 2, b'}', b'('];
    let word = |bytes: &mut Vec<u8>, text: &str| {
        bytes.push(b'X');
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
    };
    let long = |bytes: &mut Vec<u8>, value: u64| {
        bytes.extend([0x8a, 9]);
        bytes.extend(value.to_le_bytes());
        bytes.push(0);
    };
    word(&mut bytes, "device_traces");
    bytes.extend(b"]](}(");
    for (key, value) in [("action", None), ("addr", Some(18_446_720_620_317_114_368)), ("size", Some(512))] {
        word(&mut bytes, key);
        match value {
            Some(value) => long(&mut bytes, value),
            None => word(&mut bytes, "alloc"),
        }
    }
    word(&mut bytes, "frames");
    bytes.extend(b"]}(");
    word(&mut bytes, "filename");
    word(&mut bytes, "??");
    word(&mut bytes, "name");
    word(&mut bytes, "f");
    word(&mut bytes, "line");
    long(&mut bytes, u64::MAX);
    bytes.extend(b"uauea");
    word(&mut bytes, "segments");
    bytes.extend(b"]u.trailing bytes");
    let mut opened = open(&bytes).unwrap();
    let details = opened.details(0, 0).unwrap();
    assert_eq!(details.address, Some(18_446_720_620_317_114_368));
    assert_eq!(details.frames[0].line, u64::MAX.to_string());
}
