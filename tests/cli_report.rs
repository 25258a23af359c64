//! `memscape report` and the commands of the other topics: text, JSON and Markdown, and what is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use memscape::engine::protocol::Topic;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn memscape(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).output().unwrap()
}

fn told(arguments: &[&str]) -> String {
    let output = memscape(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), error.as_str()), (Some(0), ""), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// One allocation that stays, of a function with a hostile name.
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
fn each_report_is_told_in_three_forms() {
    let path = snapshot("cli-report.pickle");
    let path = path.to_str().unwrap();
    for topic in Topic::ALL.map(Topic::name) {
        let text = told(&[topic, path]);
        assert!(text.lines().next().unwrap().ends_with(": cli-report.pickle · GPU 0"), "{text}");
        let value: Value = serde_json::from_str(&told(&[topic, path, "--json"])).unwrap();
        assert_eq!((&value["schema"], &value["topic"], &value["device"]), (&json!(1), &json!(topic), &json!(0)));
        assert!(value["statements"].is_array() && value["sheets"].is_object());
        let markdown = told(&[topic, path, "--markdown"]);
        assert!(markdown.starts_with("## "), "{markdown}");
        for form in [&text, &markdown] {
            assert!(!form.contains('\u{1b}'), "{form}");
        }
        assert!(!markdown.contains("\n# "), "{markdown}");
    }
}

#[test]
fn what_there_is_not_is_refused_in_one_sentence() {
    let path = snapshot("cli-report-refused.pickle");
    let path = path.to_str().unwrap();
    for (arguments, cause) in [
        (&["--threshold", "nothing=3"][..], "no threshold nothing"),
        (&["--device", "7"], "no such device, only 0"),
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
fn rows_that_are_not_asked_for_are_counted_and_thresholds_need_no_sheets() {
    let path = snapshot("cli-report-rows.pickle");
    let path = path.to_str().unwrap();
    for form in [&["--top", "0"][..], &["--top", "0", "--markdown"]] {
        let text = told(&[&["report", path], form].concat());
        let live = text.split("What was live at the peak").nth(1).unwrap().split("What it was for").next().unwrap();
        assert!(
            live.contains("3,000 B") && live.contains("and 1 more") && !live.to_lowercase().contains("none"),
            "{live}"
        );
    }
    // Nothing failed, so there is no sheet that it could be of.
    assert!(told(&["oom", path, "--threshold", "big=1"]).contains("No request failed"));
}
