//! `memscape categories --rules`: built-in sets, sets from files, and errors in them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

fn file(name: &str, bytes: &[u8]) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Writes a snapshot under a name of its own for each test, because tests run in parallel.
fn snapshot(test: &str) -> String {
    let frame = json!({"name": "forward", "filename": "/home/me/attention.py", "line": 9});
    let event = json!({"action": "alloc", "addr": 4096, "size": 3000, "stream": 0, "frames": [frame]});
    file(
        &format!("cli-categories-{test}.json"),
        json!({"segments": [], "device_traces": [[event]]}).to_string().as_bytes(),
    )
}

fn categories(snapshot: &str, rules: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memscape"));
    command.args(["categories", snapshot, "--json"]);
    command.args(rules.iter().flat_map(|rules| ["--rules", rules]));
    command.output().unwrap()
}

#[test]
fn rules_option_takes_name_or_file() {
    let path = snapshot("chosen");
    let json = file("cli-rules.json", b"{\"mine\": \"attention\\\\.py$\"}");
    let yaml = file("cli-rules.yaml", b"rules:\n  - name: ours\n    pattern: ^forward$\n");
    for (rules, expected) in [
        (None, "activation"),
        (Some("default"), "activation"),
        (Some("mosaic"), "ACTIVATION"),
        (Some(json.as_str()), "mine"),
        (Some(yaml.as_str()), "ours"),
    ] {
        let output = categories(&path, rules);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let row = &report["sheets"]["categories"]["rows"][0];
        assert_eq!((&row["category"], &row["peak_live_bytes"]), (&json!(expected), &json!(3000)), "{rules:?}");
        // Mosaic's own counts are included unless the rules are the default ones.
        assert_eq!(report["sheets"]["mosaic"].is_null(), rules.is_none_or(|rules| rules == "default"), "{rules:?}");
    }
}

#[test]
fn rules_apply_to_plot_export_and_sql() {
    let path = snapshot("written");
    let rules = file("cli-rules-written.json", b"{\"mine\": \"attention\\\\.py$\"}");
    let printed = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_memscape")).args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    for words in [
        &["plot", &path, "-o", "-", "--colour", "category"][..],
        &["export", &path, "--to", "csv", "-o", "-"],
        &["export", &path, "--to", "jsonl", "-o", "-"],
        &["export", &path, "--to", "sqlite", "-o", "-"],
        &["sql", &path, "SELECT category FROM allocation"],
    ] {
        let with = |rules: &str| printed(&[words, &["--rules", rules]].concat()).contains("mine");
        assert!(with(&rules) && !with("default"), "{words:?}");
    }
}

#[test]
fn invalid_rules_report_error_with_lines() {
    let rules = file("cli-rules-wrong.json", b"{\"a\": \"(\",\n \"b\": 3}");
    let output = categories(&snapshot("wrong"), Some(&rules));
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len(), error.lines().count()), (Some(1), 0, 1), "{error}");
    assert!(error.contains("cli-rules-wrong.json: line 1: invalid regular expression"), "{error}");
    assert!(error.contains("line 2: \"b\" must be a string"), "{error}");
}
