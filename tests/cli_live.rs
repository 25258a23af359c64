//! `memscape live`, `peak` and `allocations`: live bytes at the cursor by call site, and search results, as text and
//! JSON.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::opened;

use memscape::protocol::SCHEMA;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn memscape(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = memscape(&[arguments, &["--json"]].concat());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), error.as_str()), (Some(0), ""), "{arguments:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Writes a snapshot with three allocations from two call sites, one of them freed in two events, and a fourth that was
/// allocated before recording.
fn snapshot(name: &str) -> PathBuf {
    let frame = |name: &str, file: &str, line: u32| json!({"name": name, "filename": file, "line": line});
    let main = frame("main", "/home/me/train.py", 9);
    let torch = frame("_call_impl", "/usr/lib/python3/site-packages/torch/nn/modules/module.py", 1501);
    let model = json!([frame("forward", "/home/me/model.py", 31), torch, main]);
    let own = json!([main]);
    let event = |action: &str, addr: u64, size: u64, time: u64, frames: &Value| json!({"action": action, "addr": addr, "size": size, "stream": 0, "time_us": time, "frames": frames});
    let trace = [
        event("alloc", 0x1000, 1000, 100, &model),
        event("alloc", 0x2000, 300, 200, &own),
        event("free_requested", 0x1000, 1000, 300, &model),
        event("free_completed", 0x1000, 1000, 400, &model),
        event("alloc", 0x1000, 50, 500, &model),
    ];
    let block = |address: u64, size: u64, requested: u64| json!({"address": address, "size": size, "requested_size": requested, "state": "active_allocated"});
    let blocks = [block(0x1000, 512, 50), block(0x2000, 512, 300), block(0x3000, 512, 7)];
    let segment = json!({"device": 0, "address": 0x1000, "total_size": 0x3000, "stream": 0, "segment_type": "small",
                         "blocks": blocks});
    let value = json!({"segments": [segment], "device_traces": [trace]});
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap()).unwrap();
    path
}

#[test]
fn at_option_takes_event_or_time_or_address() {
    let path = snapshot("cli-live.pickle");
    let path = path.to_str().unwrap();
    let at = |when: &str| {
        let live_json = json(&["live", path, "--at", when]);
        ["event", "live_bytes", "awaiting_free_bytes", "count"].map(|field| live_json[field].as_i64().unwrap())
    };
    assert_eq!(at("peak"), [1, 1307, 0, 3]);
    assert_eq!(at("-1"), [-1, 7, 0, 1]);
    assert_eq!(at("2"), [2, 1307, 1000, 3]);
    assert_eq!(at("end"), [4, 357, 0, 3]);
    assert_eq!(at("350us"), at("2"));
    assert_eq!(at("99us"), at("-1"));
    assert_eq!(at("9999us"), at("end"));
    assert_eq!(at("alloc:1000_0"), [0, 1007, 0, 2]);
    assert_eq!(at("free_completed:0x1000_0"), [3, 307, 0, 2]);
    assert_eq!(at("alloc:1000_1"), at("end"));
    for (when, cause) in [("5", "no event 5: the last is 4"), ("alloc:1000_2", "no such event")] {
        let output = memscape(&["live", path, "--at", when]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len(), error.lines().count()), (Some(1), 0, 1));
        assert!(error.contains(cause), "{error}");
    }
}

#[test]
fn by_option_groups_live_bytes() {
    let path = snapshot("cli-by.pickle");
    let path = path.to_str().unwrap();
    let by = |arguments: &[&str], fields: [&str; 3]| {
        let live_json = json(&[&["live", path], arguments].concat());
        assert_eq!((&live_json["schema"], &live_json["rows_left_out"]), (&json!(SCHEMA), &json!(0)));
        let rows = live_json["rows"].as_array().unwrap().iter();
        rows.map(|row| fields.map(|field| row[field].clone()).into_iter().collect::<Value>()).collect::<Vec<Value>>()
    };
    let fields = ["live_bytes", "name", "line"];
    let nothing = json!([7, "no stack recorded", ""]);
    let sites = [json!([1000, "forward", "31"]), json!([300, "main", "9"]), nothing.clone()];
    assert_eq!(by(&[], fields), sites);
    assert_eq!(by(&["--by", "function"], fields)[..2], [json!([1000, "forward", ""]), json!([300, "main", ""])]);
    assert_eq!(
        by(&["--by", "file"], ["live_bytes", "file", "count"])[..2],
        [json!([1000, "/home/me/model.py", 1]), json!([300, "/home/me/train.py", 1])]
    );
    let tree = by(&["--by", "tree"], ["live_bytes", "name", "depth"]);
    assert_eq!(
        tree,
        [
            json!([1300, "main", 0]),
            json!([1000, "_call_impl", 1]),
            json!([1000, "forward", 2]),
            json!([7, "no stack recorded", 0])
        ]
    );
    let hidden = by(&["--by", "tree", "--hide-internal", "--inverted"], ["live_bytes", "name", "depth"]);
    assert_eq!(
        hidden,
        [
            json!([1000, "forward", 0]),
            json!([1000, "main", 1]),
            json!([300, "main", 0]),
            json!([7, "no stack recorded", 0])
        ]
    );
    let top = json(&["live", path, "--top", "1"]);
    assert_eq!((top["rows"].as_array().unwrap().len(), &top["rows_left_out"]), (1, &json!(2)));
}

#[test]
fn peak_of_range_includes_earlier_allocations() {
    let path = snapshot("cli-peak.pickle");
    let path = path.to_str().unwrap();
    let peak = |window: &[&str]| {
        let live_json = json(&[&["peak", path], window].concat());
        ["live_bytes", "event"].map(|field| live_json[field].as_i64().unwrap())
    };
    assert_eq!(peak(&[]), [1307, 1]);
    assert_eq!(peak(&["--from", "400", "--to", "600"]), [1307, 2], "the allocation is live until its free at 400");
    assert_eq!(peak(&["--from", "401us"]), [357, 4]);
    assert_eq!(peak(&["--to", "100"]), [1007, 0]);
}

#[test]
fn text_has_exact_bytes() {
    let path = snapshot("cli-text.pickle");
    let output = memscape(&["live", path.to_str().unwrap(), "--at", "2"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "cli-text.pickle · GPU 0: live after event 2\n",
        "  live            1.28 KiB                1,307 B in 3 allocations\n",
        "  awaiting free     1000 B                1,000 B\n",
        "    76.5 %        1  forward (/home/me/model.py:31)\n",
    ] {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
}

#[test]
fn search_results_are_sorted_by_size() {
    let path = snapshot("cli-find.pickle");
    let path = path.to_str().unwrap();
    let found = |arguments: &[&str]| {
        let live_json = json(&[&["allocations", path], arguments].concat());
        let rows = live_json["rows"].as_array().unwrap().iter();
        let numbers = rows.map(|row| row["number"].as_u64().unwrap()).collect::<Vec<_>>();
        (live_json["count"].as_u64().unwrap(), live_json["requested_bytes"].as_u64().unwrap(), numbers)
    };
    assert_eq!(found(&["main"]), (3, 1350, vec![1, 2, 3]));
    assert_eq!(found(&["model.py"]), (2, 1050, vec![1, 3]));
    assert_eq!(found(&["model.py", "--at", "end"]), (1, 50, vec![3]));
    assert_eq!(found(&["/MODEL/i & life<10"]), (1, 1000, vec![1]));
    assert_eq!(found(&["0x3006"]), (1, 7, vec![0]), "allocations before recording are found as well");
    assert_eq!(found(&["> 100B", "--top", "1"]), (2, 1300, vec![1]));
    assert_eq!(found(&["nowhere"]), (0, 0, vec![]));
    assert_eq!(found(&[]), (4, 1357, vec![1, 2, 3, 0]), "without a search all allocations are listed");
    let text = String::from_utf8(memscape(&["allocations", path, "model.py", "--top", "1"]).stdout).unwrap();
    for part in [
        "GPU 0: model.py\n  2 of 4 allocations, 1.03 KiB (1,050 B) requested over the whole trace\n",
        "1,000           #1             0            3            1000  ",
        "  and 1 more (see --top)",
    ] {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
    for (pattern, cause) in [("/(/", "/(/: "), ("#x", "Expected an allocation number"), ("", "The search is empty")] {
        let output = memscape(&["allocations", path, pattern]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len(), error.lines().count()), (Some(1), 0, 1), "{pattern}");
        assert!(error.contains(cause), "{error}");
    }
}

/// Expected values come from Mosaic's own tests of this file. Mosaic leaves out the 466 bytes that were allocated
/// before recording.
#[test]
fn live_bytes_match_values_in_mosaic_tests() {
    let Some(folder) = opened::snapshots() else { return };
    let path = folder.join("anonymised-annotations-compile-context.pickle");
    let path = path.to_str().unwrap();
    let before = 466;
    let requested = |arguments: &[&str]| json(arguments)["live_bytes"].as_u64().unwrap();
    assert_eq!(requested(&["live", path, "--at", "-1"]), before);
    assert_eq!(requested(&["live", path, "--at", "alloc:343e4b6023956_0"]), 2_255_398_132 + before);
    assert_eq!(requested(&["peak", path]), 2_255_398_132 + before);
    assert_eq!(requested(&["live", path, "--at", "free_completed:2263c194bda7_0"]), 1_783_600_757 + before);
    assert_eq!(requested(&["live", path, "--at", "free_completed:32fa0599c7f59_0"]), 400_913_725 + before);
    let window = ["peak", path, "--from", "1759252605604106", "--to", "1759252631649942"];
    assert_eq!(requested(&window), 202_846_821 + before);
}

/// `--counting mosaic` counts only allocations made during the recording, which gives Mosaic's numbers to the byte.
#[test]
fn mosaic_counting_excludes_baseline() {
    let path = snapshot("cli-mosaic.pickle");
    let path = path.to_str().unwrap();
    let of = |arguments: &[&str]| {
        let live_json = json(&[arguments, &["--counting", "mosaic"]].concat());
        ["event", "live_bytes", "count"].map(|field| live_json[field].as_i64().unwrap())
    };
    assert_eq!(of(&["live", path]), [1, 1300, 2]);
    assert_eq!(of(&["live", path, "--at", "-1"]), [-1, 0, 0]);
    assert_eq!(of(&["live", path, "--at", "end"]), [4, 350, 2]);
    assert_eq!(of(&["peak", path]), [1, 1300, 2]);
    // Memory carried into the window does not count, only the state after each event of the window.
    assert_eq!(of(&["peak", path, "--from", "400", "--to", "500"]), [4, 350, 2]);
    let output = memscape(&["live", path, "--counting", "mosaic"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("as in Mosaic") && !text.contains("awaiting free"), "{text}");
    assert_eq!(memscape(&["live", path, "--counting", "mine"]).status.code(), Some(2));

    let Some(folder) = opened::snapshots() else { return };
    let path = folder.join("anonymised-annotations-compile-context.pickle");
    let path = path.to_str().unwrap();
    let requested = |arguments: &[&str]| of(arguments)[1];
    assert_eq!(requested(&["peak", path]), 2_255_398_132);
    let window = ["--from", "1759252605604106", "--to", "1759252631649942"];
    assert_eq!(requested(&[&["peak", path][..], &window].concat()), 202_846_821);
    assert_eq!(requested(&["live", path, "--at", "free_completed:2263c194bda7_0"]), 1_783_600_757);
}
