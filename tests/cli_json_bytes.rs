//! Checks that JSON keys whose values are bytes end in `_bytes`.
//!
//! All sizes in the test snapshots are multiples of 1 MiB, and no other value except times in `_us` and products in
//! `_byte_events` is that large. So
//! every large number is a number of bytes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate;
use generate::Options;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const MIB: u64 = 1 << 20;

/// All commands with `--json` that report memory, except `summary`, whose keys are those of PyTorch. `{a}` and `{b}`
/// are snapshots, and `{g}` is one whose allocator can be simulated.
const COMMANDS: [&str; 26] = [
    "insights {a}",
    "oom {a}",
    "savings {a}",
    "categories {a} --at 5",
    "categories {a} --rules mosaic",
    "steps {a}",
    "modules {a}",
    "leaks {a} --threshold unused=1MiB",
    "fragmentation {a}",
    "fragmentation {a} --stranded",
    "pools {a}",
    "settings {a}",
    "range {a} --from 1 --to 5",
    "report {a} --at 5",
    "live {a}",
    "live {a} --by tree",
    "peak {a}",
    "allocations {a}",
    "segments {a} --request 3MiB",
    "events {a}",
    "whatif {g} --search --capacity 80GiB",
    "plan {a} --set activations=2x --capacity 2GiB",
    "plan {a} --scaling-from {b} --scaling-growth 2",
    "diff {a} {b}",
    "ranks {a} {b}",
    "whatif {g} --set max_split_size_mb:64 -o {out}",
];

fn snapshot(name: &str, factor: u64) -> String {
    let frames = |at: u64| json!([{"name": format!("f{}", at % 5), "filename": "train.py", "line": at % 7}, {"name": "forward", "filename": "model.py", "line": 3}]);
    let event = |action: &str, at: u64| json!({"action": action, "addr": (1 + at) * 64 * MIB, "size": (1 + at) * factor * MIB, "stream": 0, "time_us": 10 * at, "frames": frames(at)});
    let mut trace = Vec::new();
    for at in 0..20 {
        let segment = json!({"action": "segment_alloc", "addr": (1 + at) * 64 * MIB, "size": 60 * MIB, "stream": 0, "time_us": 10 * at});
        trace.extend([segment, event("alloc", at)]);
    }
    trace.extend((8..14).flat_map(|at| [event("free_requested", at), event("free_completed", at)]));
    trace.push(json!({"action": "oom", "size": 900 * MIB, "device_free": 3 * MIB, "stream": 0, "time_us": 300, "frames": frames(3)}));
    let segment = |at: u64| {
        let (address, size) = ((1 + at) * 64 * MIB, (1 + at) * factor * MIB);
        let is_live = !(8..14).contains(&at);
        let rest =
            json!({"address": address + size, "size": 60 * MIB - size, "requested_size": 0, "state": "inactive"});
        let block = json!({"address": address, "size": size, "requested_size": if is_live { size } else { 0 },
            "state": if is_live { "active_allocated" } else { "inactive" }, "frames": frames(at)});
        json!({"device": 0, "address": address, "total_size": 60 * MIB, "stream": 0, "segment_type": "large", "blocks": [block, rest]})
    };
    let marks: Vec<Value> = (0..4)
        .flat_map(|step| {
            ["START", "END"].map(|stage| {
                json!({"stage": stage, "name": format!("ProfilerStep#{step}"), "device": 0,
            "time_us": step * 50 + if stage == "END" { 49 } else { 1 }})
            })
        })
        .collect();
    let value = json!({"segments": (0..20).map(segment).collect::<Vec<Value>>(), "device_traces": [trace], "external_annotations": marks});
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, value.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Collects the paths of large numbers that neither their own key nor a sibling with the same value marks as bytes.
fn find_unmarked(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let is_said = |value: &Value| fields.iter().any(|(key, other)| key.ends_with("_bytes") && other == value);
            let others = fields.iter().filter(|(key, value)| !key.ends_with("_bytes") && !is_said(value));
            // Both numbers of a share have the unit of its column.
            let others = others.filter(|(key, _)| !key.ends_with("_us") && !key.ends_with("_byte_events"));
            let others = others.filter(|(key, _)| !(["part", "whole"].contains(&key.as_str()) && fields.len() == 2));
            others.for_each(|(key, value)| find_unmarked(value, &format!("{place}.{key}"), found));
        }
        Value::Array(items) => items.iter().for_each(|item| find_unmarked(item, &format!("{place}[]"), found)),
        value => found.extend(value.as_f64().filter(|number| number.abs() >= MIB as f64).map(|_| place.to_owned())),
    }
}

#[test]
fn byte_values_have_keys_ending_in_bytes() {
    let [a, b] =
        [("cli-json-bytes-a.json", 1), ("cli-json-bytes-b.json", 2)].map(|(name, factor)| snapshot(name, factor));
    let (options, _) = Options::parse("--events 6000".split_whitespace().map(str::to_owned)).unwrap();
    let g = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-json-bytes-g.pickle");
    std::fs::write(&g, generate::generate(&options, Vec::new()).unwrap().0).unwrap();
    let g = g.to_str().unwrap().to_owned();
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-json-bytes-out.pickle");
    let mut wrong = Vec::new();
    for line in COMMANDS {
        let word = |word: &str| {
            word.replace("{a}", &a).replace("{b}", &b).replace("{g}", &g).replace("{out}", out.to_str().unwrap())
        };
        let words: Vec<String> = line.split(' ').map(word).chain(["--json".to_owned()]).collect();
        let output = Command::new(env!("CARGO_BIN_EXE_memscape")).args(&words).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        let before = wrong.len();
        find_unmarked(&value, line, &mut wrong);
        wrong[before..].sort();
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn all_commands_with_json_are_tested() {
    let run = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_memscape")).args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let help = run(&["--help"]);
    let names = help.lines().filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with([' ', '-'])));
    for name in names.filter_map(|line| line.split_whitespace().next()) {
        // The columns of `sql` are chosen by the query.
        // `check --json` names a file, and `attach` needs a running program.
        let has_json = run(&[name, "--help"]).lines().any(|line| line.trim().starts_with("--json"))
            && !["summary", "sql", "check", "attach"].contains(&name);
        assert_eq!(has_json, COMMANDS.iter().any(|line| line.split(' ').next() == Some(name)), "{name}");
    }
}
