//! `memscape export`: files, pipes, gzip and errors.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate;

use flate2::read::GzDecoder;
use generate::Options;
use memscape::protocol::ExportFormat;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn export(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memscape")).arg("export").args(arguments).output().unwrap()
}

fn error_of(arguments: &[&str]) -> String {
    let output = export(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Returns a path in the folder for test output.
fn output_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn snapshot(name: &str) -> String {
    let story = "--steps 2 --layers 2 --record-from-start";
    let (options, _) = Options::parse(story.split_whitespace().map(str::to_owned)).unwrap();
    let path = output_path(name);
    std::fs::write(&path, generate::generate(&options, Vec::new()).unwrap().0).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn export_is_equal_in_file_and_pipe_for_every_format() {
    let file = snapshot("export-formats.pickle");
    for format in ExportFormat::ALL {
        let out = output_path(&format!("export-formats.{}", format.extension()));
        let done = export(&[&file, "--to", format.name(), "-o", out.to_str().unwrap()]);
        let message = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.success() && message.contains("requested, "), "{message}");
        let piped = export(&[&file, "--to", format.name(), "-o", "-"]);
        assert_eq!(piped.stdout, std::fs::read(&out).unwrap(), "{format:?}");
    }
}

#[test]
fn gz_suffix_compresses_output() {
    let file = snapshot("export-gzip.pickle");
    let out = output_path("export-gzip.trace.json.gz");
    assert!(export(&[&file, "--to", "trace", "-o", out.to_str().unwrap()]).status.success());
    let mut text = String::new();
    GzDecoder::new(&*std::fs::read(&out).unwrap()).read_to_string(&mut text).unwrap();
    assert_eq!(text.as_bytes(), export(&[&file, "--to", "trace", "-o", "-"]).stdout);
}

#[test]
fn scope_range_and_table_options_select_rows() {
    let file = snapshot("export-scopes.pickle");
    let rows = |more: &[&str]| -> Vec<Value> {
        let done = export(&[&[&file, "--to", "jsonl", "-o", "-"], more].concat());
        let text = String::from_utf8(done.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let sum = |rows: &[Value]| rows.iter().map(|row| row["requested_bytes"].as_u64().unwrap()).sum::<u64>();
    let (all, live) = (rows(&[]), rows(&["--scope", "live", "--at", "100"]));
    assert!(live.len() < all.len());
    let at = |row: &Value, key: &str| row[key].as_i64();
    assert!(
        live.iter().all(|row| at(row, "allocated_at") <= Some(100) && at(row, "freed_at").is_none_or(|at| at > 100))
    );
    let curve = rows(&["--table", "curve", "--range", "100..100"]);
    assert_eq!(curve.last().unwrap()["live_bytes"], sum(&live));
    let events = rows(&["--table", "events", "--range", "50..59"]);
    assert_eq!((events.len(), &events[0]["event"]), (10, &50.into()));
    let allocated = rows(&["--scope", "allocated", "--range", "50..59"]);
    assert_eq!(allocated.len(), events.iter().filter(|event| event["action"] == "alloc").count());
}

#[test]
fn stacks_table_has_all_referenced_stacks() {
    let file = snapshot("export-stacks.pickle");
    let ids = |table: &str| -> BTreeSet<u64> {
        let done = export(&[&file, "--to", "jsonl", "-o", "-", "--table", table]);
        let text = String::from_utf8(done.stdout).unwrap();
        let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.filter_map(|row| row["stack"].as_u64()).collect()
    };
    let mut named = BTreeSet::new();
    for table in ["allocations", "events", "segments"] {
        let ids = ids(table);
        assert!(!ids.is_empty(), "{table}");
        named.extend(ids);
    }
    assert_eq!(ids("stacks"), named);
}

#[test]
fn invalid_options_report_error() {
    let file = snapshot("export-refused.pickle");
    assert!(error_of(&[&file, "--to", "xlsx", "-o", "-"]).contains("[possible values: speedscope, pprof"));
    assert!(error_of(&[&file, "--to", "dhat", "-o", "-", "--scope", "live"]).contains("--scope is for --to collapsed"));
    assert!(error_of(&[&file, "--to", "csv", "-o", "-", "--onto", &file]).contains("--onto needs --to trace"));
    assert!(
        error_of(&[&file, "--to", "csv", "-o", "-", "--range", "9..3"]).contains("the range ends before it begins")
    );
    assert!(
        error_of(&[&file, "--to", "trace", "-o", "-", "--onto", &file]).contains("no complete list \"traceEvents\"")
    );
    let other = output_path("export-elsewhen.json");
    std::fs::write(&other, "{\"traceEvents\": [{\"ph\": \"X\", \"ts\": 5, \"dur\": 1}]}").unwrap();
    let message = error_of(&[&file, "--to", "trace", "-o", "-", "--onto", other.to_str().unwrap()]);
    assert!(message.contains("the trace and the snapshot do not overlap"), "{message}");
}
