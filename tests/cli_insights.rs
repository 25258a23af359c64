//! `memscape insights` and the commands of its topics: text, JSON, Markdown, errors, and the default device.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use memscape::protocol::{SCHEMA, Topic};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn memscape(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).output().unwrap()
}

fn stdout_of(arguments: &[&str]) -> String {
    let output = memscape(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), error.as_str()), (Some(0), ""), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Writes a snapshot with one allocation that is never freed, made by a function with a hostile name.
fn snapshot(name: &str) -> PathBuf {
    let frame = json!({"name": "a|`b`\n# <script>\u{1b}[31m", "filename": "/home/me/train.py", "line": 9});
    let event = json!({"action": "alloc", "addr": 4096, "size": 3000, "stream": 0, "frames": [frame]});
    let block = json!({"address": 4096, "size": 3072, "requested_size": 3000, "state": "active_allocated"});
    let segment = json!({"device": 0, "address": 4096, "total_size": 8192, "stream": 0, "segment_type": "small",
                         "blocks": [block]});
    let value = json!({"segments": [segment], "device_traces": [[event]]});
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap()).unwrap();
    path
}

#[test]
fn every_topic_prints_text_json_and_markdown() {
    let path = snapshot("cli-report.pickle");
    let path = path.to_str().unwrap();
    for topic in Topic::ALL.map(Topic::name) {
        let command = if topic == "peak" { "report" } else { topic };
        let text = stdout_of(&[command, path]);
        assert!(text.lines().next().unwrap().ends_with(": cli-report.pickle · GPU 0"), "{text}");
        let value: Value = serde_json::from_str(&stdout_of(&[command, path, "--json"])).unwrap();
        assert_eq!((&value["schema"], &value["topic"], &value["device"]), (&json!(SCHEMA), &json!(topic), &json!(0)));
        assert!(value["statements"].is_array() && value["sheets"].is_object());
        let markdown = stdout_of(&[command, path, "--markdown"]);
        assert!(markdown.starts_with("## "), "{markdown}");
        for form in [&text, &markdown] {
            assert!(!form.contains('\u{1b}'), "{form}");
        }
        assert!(!markdown.contains("\n# "), "{markdown}");
        assert_eq!(stdout_of(&["insights", path, "--topic", topic]), text);
        let all: Value = serde_json::from_str(&stdout_of(&["insights", path, "--topic", topic, "--json"])).unwrap();
        assert_eq!(
            all["insights"],
            json!([{"topic": topic, "statements": value["statements"], "sheets": value["sheets"]}])
        );
    }
    let all: Value = serde_json::from_str(&stdout_of(&["insights", path, "--json"])).unwrap();
    let topics: Vec<&str> =
        all["insights"].as_array().unwrap().iter().map(|it| it["topic"].as_str().unwrap()).collect();
    let whole: Vec<&str> = Topic::ALL.into_iter().filter(|topic| !topic.depends_on_range()).map(Topic::name).collect();
    assert_eq!(topics, whole, "a range is reported only if it is named");
    let text = stdout_of(&["insights", path]);
    assert!(
        text.starts_with("cli-report.pickle · GPU 0\n\nOut of memory\n")
            && text.contains("\nFragmentation\n")
            && !text.contains("B  "),
        "no tables: {text}"
    );
}

/// The default device is one with an OOM, even if another has a higher peak. Without any OOM it is the one with the
/// highest peak.
#[test]
fn default_device_has_oom_or_highest_peak() {
    let frame = json!([{"name": "f", "filename": "a.py", "line": 1}]);
    let alloc = |size: u64| json!({"action": "alloc", "addr": 4096, "size": size, "stream": 0, "frames": frame});
    let oom = json!({"action": "oom", "device_free": 4096, "size": 1 << 30, "stream": 0, "frames": frame});
    let file = |name: &str, traces: Value| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, json!({"segments": [], "device_traces": traces}).to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let path = file("cli-leads-oom.json", json!([[alloc(5 << 20)], [alloc(3 << 20), oom], [alloc(9 << 20)]]));
    let text = stdout_of(&["oom", &path]);
    assert!(text.starts_with("Out of memory: cli-leads-oom.json · GPU 1\n"), "{text}");
    assert!(
        text.contains("Out of memory at event 1: a.py:1 f requested 1.00 GiB, the device had 4.00 KiB free."),
        "{text}"
    );
    let others = "Other devices (see --device): GPU 0 (peak 5.00 MiB, no OOM), GPU 2 (peak 9.00 MiB, no OOM)\n";
    assert!(text.ends_with(others), "{text}");
    for command in [&["live"][..], &["segments"], &["allocations"], &["events"], &["insights"], &["peak"], &["leaks"]] {
        let [text, json] = [&[][..], &["--json"]].map(|form| stdout_of(&[command, &[&path], form].concat()));
        assert!(text.ends_with(others), "{command:?}: {text}");
        let json: Value = serde_json::from_str(&json).unwrap();
        let others = json!([{"device": 0, "ooms": 0}, {"device": 2, "ooms": 0}]);
        assert_eq!((&json["device"], &json["other_devices"]), (&json!(1), &others), "{command:?}");
    }
    let at_oom: Value = serde_json::from_str(&stdout_of(&["segments", &path, "--at", "oom", "--json"])).unwrap();
    assert_eq!(at_oom["event"], 1, "the event of the OOM");
    let chosen = stdout_of(&["oom", &path, "--device", "0"]);
    assert!(chosen.contains("GPU 0") && chosen.contains("No OOM") && !chosen.contains("Other devices"), "{chosen}");

    let path = file("cli-leads-peak.json", json!([[], [alloc(3 << 20)], [alloc(9 << 20)], [alloc(9 << 20)]]));
    let text = stdout_of(&["live", &path]);
    assert!(text.starts_with("cli-leads-peak.json · GPU 2: "), "{text}");
    let others = "Other devices (see --device): GPU 1 (peak 3.00 MiB), GPU 3 (peak 9.00 MiB)\n";
    assert!(text.ends_with(others), "{text}");
}

/// A limit of rows is not a limit of what sentences know.
#[test]
fn sentences_do_not_depend_on_number_of_rows() {
    let frame = json!([{"name": "f", "filename": "a.py", "line": 1}]);
    let alloc = json!({"action": "alloc", "addr": 4096, "size": 5 << 20, "stream": 0, "frames": frame});
    let oom = json!({"action": "oom", "device_free": 4096, "size": 1 << 30, "stream": 0, "frames": frame});
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-rows-oom.json");
    std::fs::write(&path, json!({"segments": [], "device_traces": [[alloc, oom]]}).to_string()).unwrap();
    let [none, all] = ["0", "9"].map(|rows| stdout_of(&["insights", path.to_str().unwrap(), "--top", rows]));
    assert!(none.contains("a.py:1 f requested 1.00 GiB"), "{none}");
    assert_eq!(none, all);
}

#[test]
fn leak_of_other_device_is_named() {
    let alloc = |at: u64, size: u64, line: u64| {
        let frames =
            json!([{"name": "f", "filename": "a.py", "line": line}, {"name": "main", "filename": "a.py", "line": 9}]);
        json!({"action": "alloc", "addr": at << 32, "size": size << 20, "stream": 0, "frames": frames})
    };
    let free = |at: u64, size: u64| json!({"action": "free_completed", "addr": at << 32, "size": size << 20, "stream": 0, "frames": []});
    let with_time = |(place, mut event): (usize, Value)| {
        event["time_us"] = json!(1000 + 10 * place);
        event
    };
    let leak = (0..8).flat_map(|step| [alloc(99, 5, 1), alloc(step + 1, 2, 2), free(99, 5)]);
    let leak: Vec<Value> = leak.enumerate().map(with_time).collect();
    let mark = |stage: &str, step: usize, time: usize| json!({"stage": stage, "name": format!("step_{step}"), "device": 1, "time_us": time});
    let marks = |step| [mark("START", step, 995 + 30 * step), mark("END", step, 1022 + 30 * step)];
    let marks: Vec<Value> = (0..8).flat_map(marks).collect();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-leak-of-other.json");
    std::fs::write(
        &path,
        json!({"segments": [], "device_traces": [[alloc(1, 900, 1)], leak], "external_annotations": marks}).to_string(),
    )
    .unwrap();
    let path = path.to_str().unwrap();
    for command in ["insights", "leaks"] {
        let text = stdout_of(&[command, path]);
        assert!(text.contains(" · GPU 0\n"), "{text}");
        let wanted = "\nGPU 1: a.py:2 f (called at a.py:9 main) grew 2.00 MiB in each of the 8 steps, none freed: 16.0 MiB in all \
                      (likely a leak). See --device 1.\n";
        assert!(text.contains(wanted), "{text}");
        assert!(!stdout_of(&[command, path, "--device", "0"]).contains("GPU 1"), "{command}");
    }
}

#[test]
fn unknown_threshold_device_or_event_reports_error() {
    let path = snapshot("cli-report-refused.pickle");
    let path = path.to_str().unwrap();
    for (arguments, cause) in [
        (&["--threshold", "nothing=3"][..], "no threshold nothing"),
        (&["--device", "7"], "no such device; available: 0"),
        (&["--at", "5"], "no event 5"),
        (&["--rules", "/nowhere/rules.json"], "/nowhere/rules.json: No such file"),
    ] {
        let output = memscape(&[&["leaks", path], arguments].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len(), error.lines().count()), (Some(1), 0, 1), "{error}");
        assert!(error.contains(cause), "{error}");
    }
    for arguments in [&["leaks"][..], &["oom", path, "--by", "tree"], &["report", path, "--threshold", "x"]] {
        assert_eq!(memscape(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn top_option_of_0_prints_only_number_of_hidden_rows() {
    let path = snapshot("cli-report-rows.pickle");
    let path = path.to_str().unwrap();
    for form in [&["--top", "0"][..], &["--top", "0", "--markdown"]] {
        let text = stdout_of(&[&["report", path], form].concat());
        let live = text.split("Live at the peak").nth(1).unwrap().split("By category").next().unwrap();
        assert!(
            live.contains("3,000 B") && live.contains("and 1 more") && !live.to_lowercase().contains("none"),
            "{live}"
        );
    }
    // Without an OOM, no table uses the threshold.
    assert!(stdout_of(&["oom", path, "--threshold", "big=1"]).contains("No OOM"));
}

/// Writes a snapshot where a 14 MiB allocation needs a new segment although 20 MiB are free in two holes.
fn fragmented_snapshot(name: &str) -> PathBuf {
    const MIB: u64 = 1 << 20;
    let [a, b, c] = [1u64 << 40, (1 << 40) + 12 * MIB, 2 << 40];
    let frame = |line: usize| json!([{"name": "step", "filename": "/home/me/train.py", "line": line}]);
    let events = [
        ("segment_alloc", a, 20 * MIB),
        ("alloc", a, 12 * MIB),
        ("alloc", b, MIB + 512),
        ("free_requested", a, 12 * MIB),
        ("free_completed", a, 12 * MIB),
        ("segment_alloc", c, 14 * MIB),
        ("alloc", c, 14 * MIB),
    ];
    let event = |(line, (action, addr, size)): (usize, (&str, u64, u64))| json!({"action": action, "addr": addr, "size": size, "stream": 0, "frames": frame(line)});
    let trace: Vec<Value> = events.into_iter().enumerate().map(event).collect();
    let segment = |address: u64, total: u64, block: u64, size: u64| {
        json!({"device": 0, "address": address, "total_size": total, "stream": 0, "segment_type": "large",
        "blocks": [{"address": block, "size": size, "requested_size": size, "state": "active_allocated"}]})
    };
    let segments = [segment(a, 20 * MIB, b, MIB + 512), segment(c, 14 * MIB, c, 14 * MIB)];
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, json!({"segments": segments, "device_traces": [trace]}).to_string()).unwrap();
    path
}

#[test]
fn stranded_lists_every_driver_request_as_json() {
    let path = fragmented_snapshot("cli-stranded.json");
    let path = path.to_str().unwrap();
    let stranded = (20u64 << 20) - (1 << 20) - 512;
    let value: Value =
        serde_json::from_str(&stdout_of(&["fragmentation", path, "--stranded", "--json", "--top", "1"])).unwrap();
    assert_eq!((&value["schema"], &value["topic"]), (&json!(SCHEMA), &json!("fragmentation")));
    let requests = value["sheets"]["driver_requests"]["rows"].as_array().unwrap();
    assert_eq!(requests.len(), 2, "--top applies to text only");
    let expected = json!({
        "event": 5, "requested_bytes": 14 << 20, "grown_bytes": 14 << 20, "stranded_bytes": stranded,
        "stranded_another_pool_bytes": 0, "stranded_size_class_bytes": 0, "stranded_another_stream_bytes": 0,
        "stranded_too_small_bytes": stranded, "pool": "default, large blocks", "stream": "default stream",
        "call_site": "train.py:6 step", "evidence": {"after_event": 4},
    });
    assert_eq!(requests[0], expected);
    let rows = |sheet: &str| &value["sheets"][sheet]["rows"];
    assert_eq!(rows("stranded")[0]["stranded_bytes"], json!(stranded));
    assert_eq!(rows("stranded_by_block")[0]["call_site"], json!("train.py:2 step"));
    assert_eq!(rows("stranded_by_block")[0]["pinned_bytes"], json!(stranded));
    let free = &rows("stranded_by_free")[0];
    assert_eq!(
        (&free["freed_at"], &free["exposed_at"], &free["stranded_bytes"]),
        (&json!(4), &json!(5), &json!(12 << 20))
    );
    assert_eq!(free["stranded_byte_events"], json!((12 << 20) * (6 - 4)));
    assert_eq!(free["evidence"]["allocation"], json!(0));
}

#[test]
fn stranded_prints_only_stranded_bytes() {
    let path = fragmented_snapshot("cli-stranded-text.json");
    let path = path.to_str().unwrap();
    let text = stdout_of(&["fragmentation", path, "--stranded", "--top", "1"]);
    assert!(
        text.contains("Reserved grew at event 6 because 19.0 MiB are pinned by 1 block of train.py:2 step."),
        "{text}"
    );
    assert!(!text.contains("Fix: ") && text.contains("and 1 more (see --top)"), "{text}");
    assert!(!text.contains("Fragmentation after event"), "{text}");
    let whole = stdout_of(&["fragmentation", path]);
    assert!(whole.contains("Stranded at peak reserved:") && !whole.contains("\nDriver requests"), "{whole}");
    assert!(stdout_of(&["fragmentation", path, "--stranded", "--markdown"]).starts_with("## Fragmentation"));
}
