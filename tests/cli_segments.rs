//! `memscape segments`: segments and blocks as text and JSON, equal to the page's numbers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::opened;
use crate::stated;

use memscape::protocol::SCHEMA;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MIB: u64 = 1 << 20;

fn memscape(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = memscape(&[arguments, &["--json"]].concat());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), error.as_str()), (Some(0), ""), "{arguments:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Writes a snapshot with a large segment with free blocks, a small segment, and one of a private pool on another
/// stream.
fn snapshot(name: &str, settings: Value) -> PathBuf {
    let frames = json!([{"name": "forward", "filename": "/home/me/model.py", "line": 31}]);
    let event = |action: &str, addr: u64, size: u64| json!({"action": action, "addr": addr, "size": size, "stream": 0, "frames": frames});
    let block = |address: u64, size: u64, requested: u64, state: &str| json!({"address": address, "size": size, "requested_size": requested, "state": state, "frames": frames});
    let segment = |address: u64, size: u64, kind: &str, pool: u64, blocks: Vec<Value>| {
        json!({"device": 0, "address": address, "total_size": size, "stream": 7 * pool, "segment_type": kind,
                         "segment_pool_id": [pool, 0], "is_expandable": settings["expandable_segments"] == true, "blocks": blocks})
    };
    let large = vec![
        block(100 * MIB, 8 * MIB, 8 * MIB - 3, "active_allocated"),
        block(108 * MIB, 4 * MIB, 0, "inactive"),
        block(112 * MIB, 2 * MIB, 2 * MIB, "active_pending_free"),
        block(114 * MIB, 6 * MIB, 0, "inactive"),
    ];
    let segments = [
        segment(100 * MIB, 20 * MIB, "large", 0, large),
        segment(200 * MIB, 2 * MIB, "small", 0, vec![block(200 * MIB, 2 * MIB, 0, "inactive")]),
        segment(300 * MIB, 20 * MIB, "large", 1, vec![block(300 * MIB, 20 * MIB, 0, "inactive")]),
    ];
    // Without any free_completed event, free_requested events would end lifetimes.
    let trace =
        [("alloc", 100), ("free_requested", 100), ("free_completed", 100), ("alloc", 112), ("free_requested", 112)];
    let trace = trace.map(|(action, at)| match at {
        100 => event(action, 300 * MIB, MIB),
        at => event(action, at * MIB, 2 * MIB),
    });
    let value = json!({"segments": segments, "device_traces": [trace], "allocator_settings": settings});
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap()).unwrap();
    path
}

#[test]
fn json_lists_groups_segments_and_blocks() {
    let path = snapshot("cli-state.pickle", json!({}));
    let path = path.to_str().unwrap();
    let segments_json = json(&["segments", path, "--at", "end"]);
    assert_eq!((segments_json["schema"].as_i64(), segments_json["event"].as_i64()), (Some(SCHEMA.into()), Some(4)));
    let sums = |value: &Value| {
        [
            "segment_count",
            "reserved_bytes",
            "block_count",
            "live_bytes",
            "awaiting_free_bytes",
            "free_bytes",
            "free_block_count",
        ]
        .map(|key| value[key].as_u64().unwrap())
    };
    assert_eq!(sums(&segments_json["sums"]), [3, 42 * MIB, 2, 10 * MIB - 3, 2 * MIB, 32 * MIB, 4]);
    let groups = segments_json["groups"].as_array().unwrap();
    let kinds: Vec<_> = groups.iter().map(|group| (group["pool"][0].as_u64(), group["small"].as_bool())).collect();
    assert_eq!(
        kinds,
        [(Some(0), Some(false)), (Some(0), Some(true)), (Some(1), Some(false))],
        "large segments come before small ones"
    );
    let blocks = groups[0]["segments"][0]["blocks"].as_array().unwrap();
    let of =
        |block: &Value| (block["address"].as_str().unwrap().to_owned(), block["state"].as_str().unwrap().to_owned());
    let expected = [(100u64, "live"), (108, "free"), (112, "awaiting_free"), (114, "free")];
    let expected = expected.map(|(at, state)| (format!("0x{:x}", at * MIB), state.to_owned()));
    assert_eq!(blocks.iter().map(of).collect::<Vec<_>>(), expected);
    assert_eq!(
        (blocks[0]["allocated_rounded_bytes"].as_u64(), blocks[0]["allocated_rounded_is_exact"].as_bool()),
        (Some(8 * MIB), Some(true))
    );
    assert_eq!(blocks[2]["call_site"].as_str(), Some("model.py:31 forward"));
}

#[test]
fn pool_and_stream_filter_segments() {
    let path = snapshot("cli-state-before.pickle", json!({}));
    let segments_json = json(&["segments", path.to_str().unwrap(), "--at", "-1", "--pool", "0,0"]);
    assert_eq!(segments_json["sums"]["largest_free_bytes"].as_u64(), Some(12 * MIB));
    assert_eq!(segments_json["groups"].as_array().unwrap().len(), 2, "only one pool is listed");
    let other = self::json(&["segments", path.to_str().unwrap(), "--at", "end", "--stream", "7"]);
    assert_eq!(other["sums"]["reserved_bytes"].as_u64(), Some(20 * MIB));
}

/// Best fit by pool and stream, requests to the driver, and blocks too large to split.
#[test]
fn request_finds_best_fit_block() {
    let path = snapshot("cli-state-fits.pickle", json!({}));
    let fits = |path: &Path, bytes: &str| {
        let segments_json = json(&["segments", path.to_str().unwrap(), "--at", "end", "--request", bytes]);
        let fit = |fit: &Value| {
            let at = fit["block_address"].as_str().map(|at| u64::from_str_radix(&at[2..], 16).unwrap() / MIB);
            (fit["pool"][0].as_u64().unwrap(), at, fit["new_segment_bytes"].as_u64().unwrap() / MIB)
        };
        segments_json["fits"].as_array().unwrap().iter().map(fit).collect::<Vec<_>>()
    };
    assert_eq!(fits(&path, "3MiB"), [(0, Some(108), 0), (1, Some(300), 0)], "the smallest sufficient block is used");
    assert_eq!(fits(&path, "5MiB"), [(0, Some(114), 0), (1, Some(300), 0)]);
    assert_eq!(fits(&path, "7MiB"), [(0, None, 20), (1, Some(300), 0)]);
    assert_eq!(fits(&path, "31MiB"), [(0, None, 32), (1, None, 32)], "a segment of its own, in steps of 2 MiB");
    assert_eq!(fits(&path, "1KiB"), [(0, Some(200), 0)], "small blocks have their own segments");
    let split = snapshot("cli-state-split.pickle", json!({"max_split_size": 16 * MIB}));
    assert_eq!(fits(&split, "7MiB"), [(0, None, 20), (1, None, 20)], "a block of 16 MiB or more is not split");
    assert_eq!(fits(&split, "17MiB"), [(0, None, 18), (1, Some(300), 0)]);
    let grows = snapshot("cli-state-grows.pickle", json!({"expandable_segments": true}));
    assert_eq!(fits(&grows, "26MiB"), [(0, None, 20), (1, None, 20)], "free space at the segment's end is used first");
    assert_eq!(fits(&path, "26MiB"), [(0, None, 26), (1, None, 26)]);
    let text = memscape(&["segments", path.to_str().unwrap(), "--request", "7MiB", "--pool", "5,5"]);
    assert_eq!((text.status.code(), text.stdout.len()), (Some(1), 0), "the pool does not exist");
    let text = memscape(&["segments", path.to_str().unwrap(), "--request", "7MiB"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("needs 20.0 MiB (20,971,520 B) from the driver"), "{text}");
}

#[test]
fn text_lists_device_pools_and_blocks() {
    let path = snapshot("cli-state-text.pickle", json!({}));
    let text = memscape(&["segments", path.to_str().unwrap(), "--at", "end", "--blocks"]);
    let text = String::from_utf8(text.stdout).unwrap();
    for part in [
        "GPU 0: after event 4",
        "reserved 42.0 MiB (44,040,192 B) in 3 segments",
        "default pool, default stream, large blocks:",
        "graph-private pool (1, 0), stream 0x7, large blocks:",
        "0x6400000",
        "= 8,388,608  model.py:31 forward",
        "≤ 6,291,456",
        "awaiting free",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

/// Compares the listings of command line and engine at the end of real files. tests/brute_force_state.rs compares the
/// rest.
#[test]
fn command_line_matches_engine() {
    for path in opened::real_pickles().unwrap_or_default().iter().take(6) {
        let mut file = opened::open(&std::fs::read(path).unwrap()).unwrap();
        for device in file.summary.devices.clone() {
            let ordinal = device.device.to_string();
            let segments_json = json(&["segments", path.to_str().unwrap(), "--at", "end", "--device", &ordinal]);
            let page = stated::list(&mut file, device.device, u32::MAX);
            let blocks = segments_json["groups"]
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|group| group["segments"].as_array().unwrap());
            let blocks: usize = blocks.map(|segment| segment["blocks"].as_array().unwrap().len()).sum();
            assert_eq!(blocks, page.pieces.len(), "{path:?}");
            assert_eq!(segments_json["sums"]["live_bytes"].as_u64(), Some(page.total.requested), "{path:?}");
        }
    }
}

/// The position has the reference's reserved peak and is the first one that does.
#[test]
fn reserved_peak_is_at_first_maximum() {
    let Some(corpus) = opened::snapshots() else { return };
    let expected: Value = serde_json::from_slice(&std::fs::read(corpus.join("expected.json")).unwrap()).unwrap();
    for name in
        ["train-fp32-1185-segments.pickle", "no-time-segments-freed.pickle", "torch-2.10-bf16-expandable.pickle"]
    {
        let path = corpus.join(name);
        let path = path.to_str().unwrap();
        let state = json(&["segments", path, "--at", "reserved-peak"]);
        let event = state["event"].as_i64().unwrap();
        assert_eq!(state["sums"]["reserved_bytes"], expected[name][0]["peak_reserved"], "{name}");
        let before = json(&["segments", path, "--at", &(event - 1).max(-1).to_string()]);
        let of = |state: &Value| state["sums"]["reserved_bytes"].as_u64().unwrap();
        assert!(event == -1 || of(&before) < of(&state), "{name}: {event}");
        assert_eq!(json(&["live", path, "--at", "reserved-peak"])["event"].as_i64(), Some(event), "{name}");
    }
}
