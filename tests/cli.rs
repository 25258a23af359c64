//! The command line as used in scripts: JSON, standard input, exit status and error messages.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::zip;

use memscape::protocol::SCHEMA;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn memscape(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_memscape"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The process may reject its arguments without reading.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn snapshot() -> Vec<u8> {
    let event = json!({"action": "alloc", "addr": 0, "size": 100, "stream": 0});
    let block = json!({"address": 0, "size": 512, "requested_size": 100, "state": "active_allocated", "frames": []});
    let segment = json!({"device": 0, "address": 0, "total_size": 2048, "stream": 0, "segment_type": "small",
                         "blocks": [block]});
    let value = json!({"segments": [segment], "device_traces": [[event], []]});
    serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap()
}

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn summary_json_has_one_object_per_file() {
    let path = file("cli.pickle", &snapshot());
    let output = memscape(&["summary", path.to_str().unwrap(), "-", "--json"], &snapshot());
    assert_eq!(output.status.code(), Some(0));
    let files: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&Value> = files.as_array().unwrap().iter().map(|file| &file["file"]).collect();
    assert_eq!(names, ["cli.pickle", "-"]);
    for file in files.as_array().unwrap() {
        assert_eq!(file["schema"], json!(SCHEMA));
        let kinds: Vec<&Value> = file["warnings"].as_array().unwrap().iter().map(|warning| &warning["kind"]).collect();
        assert_eq!(kinds, ["no_stacks"], "the event has no frames");
        assert_eq!(file["devices"].as_array().map(Vec::len), Some(1), "the empty second device is left out");
        let device = &file["devices"][0];
        let expected = json!({"device": 0, "events": 1, "actions": {"alloc": 1}, "allocations": 1, "base_requested": 0,
            "peak_requested": 100, "peak_event": 0, "end_requested": 100, "end_rounded": 512, "reserved_start": 2048,
            "peak_reserved": 2048, "reserved_end": 2048, "segments": 1, "annotations": 0});
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(&device[field], value, "{field}");
        }
    }
}

/// Tests a file and a pipe. A piped archive is stored in a temporary file, which has to be removed.
#[test]
fn summary_of_zip_has_one_object_per_snapshot() {
    let archive =
        zip::zip_of(&[("a.pickle", &snapshot()), ("b.pickle", &snapshot()), ("cut.pickle", &snapshot()[..40])]);
    let path = file("cli.zip", &archive);
    let own = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-temporary");
    std::fs::create_dir_all(&own).unwrap();
    for argument in [path.to_str().unwrap(), "-"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memscape"));
        command.args(["summary", argument, "--json"]).env("TMPDIR", &own);
        command.stdin(std::fs::File::open(&path).unwrap());
        let mut feeding = None;
        if argument == "-" {
            // A pipe. A redirected file needs no temporary file.
            let mut cat = Command::new("cat").arg(&path).stdout(Stdio::piped()).spawn().unwrap();
            command.stdin(cat.stdout.take().unwrap());
            feeding = Some(cat);
        }
        let output = command.output().unwrap();
        feeding.into_iter().for_each(|mut cat| assert!(cat.wait().unwrap().success()));
        assert_eq!(output.status.code(), Some(1), "one of the three snapshots is truncated");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.starts_with(&format!("memscape: {argument}: cut.pickle: ")), "{error}");
        let files: Value = serde_json::from_slice(&output.stdout).unwrap();
        let names: Vec<&str> = files.as_array().unwrap().iter().filter_map(|file| file["file"].as_str()).collect();
        let name = argument.rsplit('/').next().unwrap();
        assert_eq!(names, ["a", "b"].map(|it| format!("{name} › {it}.pickle")));
        assert!(files.as_array().unwrap().iter().all(|file| file["devices"][0]["peak_requested"] == 100));
        assert_eq!(std::fs::read_dir(&own).unwrap().count(), 0, "a temporary file is left");
    }
}

#[test]
fn summary_text_has_exact_peak_bytes() {
    let output = memscape(&["summary", "-"], &snapshot());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("    peak  ") && text.contains("100 B, event 0"), "{text}");
}

/// Writes to a file and to a pipe.
#[test]
fn plot_writes_svg() {
    let path = file("cli-plot.pickle", &snapshot());
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-plot.svg");
    let [path, into] = [path.to_str().unwrap(), out.to_str().unwrap()];
    let output =
        memscape(&["plot", path, "-o", into, "--width", "700", "--stack", "size", "--from", "0", "--to", "0"], b"");
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
    let text = std::fs::read_to_string(&out).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    let svg = document.root_element();
    assert_eq!((svg.tag_name().name(), svg.attribute("width")), ("svg", Some("700")));
    for part in ["cli-plot.pickle · GPU 0", "peak 100 B requested (100 B) at event 0", "One event", "stacked by size"]
    {
        assert!(text.contains(part), "{part}");
    }
    assert!(text.contains("fill=\"#ffffff\""));
    let dark = memscape(&["plot", "-", "-o", "-", "--dark", "--colour", "lifetime"], &snapshot());
    let text = String::from_utf8(dark.stdout).unwrap();
    assert!(text.starts_with("<?xml") && text.contains("fill=\"#0f1217\"") && text.contains("Colour: lifetime"));
}

#[test]
fn unplottable_range_or_device_reports_error() {
    let path = file("cli-no-plot.pickle", &snapshot());
    let path = path.to_str().unwrap();
    for (arguments, cause) in [
        (&["--device", "7"][..], "no such device; available: 0"),
        (&["--time"], "no timestamps"),
        (&["--from", "5"], "nothing to draw"),
    ] {
        let output = memscape(&[&["plot", path, "-o", "-"], arguments].concat(), b"");
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{error}");
        assert!(error.contains(path) && error.contains(cause) && error.lines().count() == 1, "{error}");
    }
    let output = memscape(&["plot", path, "-o", "/nowhere/at.all"], b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nowhere/at.all: no such folder"));
}

#[test]
fn unreadable_file_exits_with_status_1() {
    let cut = file("cli-cut.pickle", &snapshot()[..40]);
    let folder = env!("CARGO_MANIFEST_DIR");
    let cases = [
        (cut.to_str().unwrap(), "after 40 bytes"),
        ("/nowhere/at.all", "No such file"),
        (folder, "name the files in it"),
    ];
    for (argument, cause) in cases {
        let output = memscape(&["summary", argument], b"");
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(error.contains(argument) && error.contains(cause) && error.lines().count() == 1, "{error}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn invalid_arguments_exit_with_status_2() {
    let plots =
        [&["plot"][..], &["plot", "x"], &["plot", "x", "-o", "y", "--width", "1"], &["plot", "x", "y", "-o", "z"]];
    let others = [&[][..], &["summary"], &["summarise", "x"], &["summary", "x", "--yaml"]];
    for arguments in others.into_iter().chain(plots) {
        let output = memscape(arguments, b"");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains("Usage: memscape") || message.contains("try '--help'"), "{message}");
        assert!(output.stdout.is_empty());
    }
}
