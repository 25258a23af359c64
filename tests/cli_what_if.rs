//! `memscape whatif`: text, JSON, Markdown, errors, and no prediction for recordings that cannot be reproduced.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate;
use crate::opened::snapshots;

use memscape::protocol::SCHEMA;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn memscape(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memscape")).arg("whatif").args(arguments).output().unwrap()
}

fn stdout_of(arguments: &[&str]) -> String {
    let output = memscape(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), error.as_str()), (Some(0), ""), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn generated(name: &str, words: &str) -> PathBuf {
    let (options, _) = generate::Options::parse(words.split(' ').map(str::to_owned)).unwrap();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, generate::generate(&options, Vec::new()).unwrap().0).unwrap();
    path
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn json_has_expected_keys() {
    let path = generated("what-if.pickle", "--events 12000 --devices 2");
    let path = path.to_str().unwrap();
    let json_output: Value =
        serde_json::from_str(&stdout_of(&[path, "--json", "--set", "expandable_segments:True"])).unwrap();
    assert_eq!(keys(&json_output), ["devices", "plan", "schema"]);
    assert_eq!(json_output["plan"], json!(null));
    assert_eq!((&json_output["schema"], json_output["devices"].as_array().unwrap().len()), (&json!(SCHEMA), 2));
    let device = &json_output["devices"][1];
    assert_eq!(
        keys(device),
        [
            "capacity_bytes",
            "device",
            "fits_in",
            "has_contradictory_limits",
            "recorded_limit",
            "reproduces",
            "runs",
            "total_bytes"
        ]
    );
    assert_eq!((&device["device"], &device["fits_in"]), (&json!(1), &json!(null)));
    assert_eq!(
        keys(&device["reproduces"]),
        [
            "addresses",
            "addresses_equal",
            "largest_reserved_error",
            "largest_reserved_error_bytes",
            "not_exercised",
            "peak_reserved",
            "peak_reserved_bytes",
            "recorded_peak_reserved",
            "recorded_peak_reserved_bytes",
            "refused",
            "segment_events",
            "segment_events_equal"
        ]
    );
    let runs = device["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2, "the recorded settings and the given ones");
    for run in runs {
        assert_eq!(
            keys(run),
            [
                "band",
                "band_bytes",
                "driver_calls",
                "grade",
                "oom_event",
                "peak_reserved",
                "peak_reserved_bytes",
                "program",
                "retries",
                "retry_range",
                "runs_out_of_memory",
                "settings",
                "with_lowest_limit"
            ]
        );
        let band = run["band"].as_array().unwrap();
        assert!(band[0].as_u64() <= run["peak_reserved"].as_u64() && run["peak_reserved"].as_u64() <= band[1].as_u64());
    }
    assert_eq!(runs[0]["settings"], json!("expandable_segments:False"));
    assert_eq!((&runs[0]["grade"], &runs[1]["grade"]), (&json!("proved"), &json!("depends_on_start")));
}

#[test]
fn text_starts_with_proof_and_sorts_by_peak() {
    let path = generated("what-if-text.pickle", "--events 12000");
    let path = path.to_str().unwrap();
    let text = stdout_of(&[path, "--search"]);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("What if: what-if-text.pickle · GPU 0"));
    let proof = lines.next().unwrap();
    assert!(proof.starts_with("  ✓ Simulator check: matches this recording exactly ("), "{proof}");
    assert!(proof.ends_with("reserved bytes off by 0 B)."), "{proof}");
    let table: Vec<&str> =
        lines.skip_while(|line| !line.contains("Peak reserved")).skip(1).take_while(|line| !line.is_empty()).collect();
    assert!(table.len() > 8, "{text}");
    let peaks: Vec<f64> =
        table.iter().map(|row| row.split_whitespace().next().unwrap().replace(',', "").parse().unwrap()).collect();
    assert!(peaks.is_sorted(), "{text}");
    assert!(
        table
            .iter()
            .any(|row| row.contains("expandable_segments:False (recorded)") && row.ends_with("exact on this file"))
    );
    assert!(text.contains("The recorded program fits in "), "{text}");
    let markdown = stdout_of(&[path, "--markdown"]);
    assert!(markdown.starts_with("## What if: ") && markdown.contains("\n| Peak reserved | Spread |"), "{markdown}");
}

#[test]
fn ineffective_or_harmful_settings_print_warning() {
    let path = generated("what-if-warned.pickle", "--events 3000");
    let path = path.to_str().unwrap();
    let both = ["--set", "max_split_size_mb:128,expandable_segments:True", "--set", "garbage_collection_threshold:0.8"];
    let text = stdout_of(&[&[path][..], &both].concat());
    assert!(text.contains("! expandable_segments with max_split_size_mb can grow without bound"), "{text}");
    assert!(text.contains("! garbage_collection_threshold has no effect unless per_process_memory_fraction"), "{text}");
    let text = stdout_of(&[
        path,
        "--set",
        "garbage_collection_threshold:0.8,per_process_memory_fraction:0.9",
        "--capacity",
        "80GiB",
    ]);
    assert!(!text.contains("does nothing") && text.contains("Device memory: 80.0 GiB."), "{text}");
    let tight = stdout_of(&[path, "--capacity", "64MiB", "--set", "expandable_segments:True"]);
    assert!(tight.contains("None of these settings avoids the out-of-memory error."), "{tight}");
    let recorded: Value = serde_json::from_str(&stdout_of(&[path, "--json"])).unwrap();
    let recorded = recorded["devices"][0]["runs"][0]["peak_reserved"].as_u64().unwrap();
    let recorded = memscape::units::group_digits(recorded) + " B";
    assert!(tight.contains(&recorded) && tight.contains("before event 0"), "the recording is listed, too: {tight}");
}

#[test]
fn invalid_settings_exit_with_status_2() {
    for (line, words) in [
        ("expandable_segments:true", "expected True or False at character 1"),
        ("max_split_size_mb:128,foo:1", "unknown setting at character 23: foo:1"),
        ("backend:cudaMallocAsync", "not simulated"),
    ] {
        let output = memscape(&["a.pickle", "--set", line]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(error.contains(words), "{line}: {error}");
    }
    assert_eq!(memscape(&["a.pickle", "--json", "--markdown"]).status.code(), Some(2));
}

#[test]
fn unreproducible_recording_has_no_prediction() {
    let Some(folder) = snapshots() else { return };
    let path = folder.join("anonymised-annotations-compile-context.pickle");
    let path = path.to_str().unwrap();
    let text = stdout_of(&[path, "--search"]);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("addresses")).collect();
    assert_eq!(lines, ["  ! No prediction: 520 of 520 addresses lie in no segment."], "{text}");
    assert!(!text.contains("GiB") && !text.contains("MiB"), "{text}");
    let json_output: Value = serde_json::from_str(&stdout_of(&[path, "--json", "--search"])).unwrap();
    let device = &json_output["devices"][0];
    assert_eq!((&device["runs"], &device["fits_in"]), (&json!([]), &json!([])));
    let reproduces = &device["reproduces"];
    assert_eq!(reproduces["refused"], json!("520 of 520 addresses lie in no segment"));
    for number in ["peak_reserved", "recorded_peak_reserved", "largest_reserved_error"] {
        assert_eq!(reproduces[number], json!(null), "{number}");
    }
}

#[test]
fn real_file_matches_reference_prediction() {
    let Some(folder) = snapshots() else { return };
    let path = folder.join("train-fp32-1185-segments.pickle");
    let json_output: Value = serde_json::from_str(&stdout_of(&[path.to_str().unwrap(), "--json", "--search"])).unwrap();
    let device = &json_output["devices"][0];
    let reproduces = &device["reproduces"];
    for (key, number) in [
        ("addresses", 8768u64),
        ("addresses_equal", 8768),
        ("segment_events", 678),
        ("segment_events_equal", 678),
        ("largest_reserved_error", 0),
        ("peak_reserved", 67_071_115_264),
        ("recorded_peak_reserved", 67_071_115_264),
    ] {
        assert_eq!(reproduces[key], json!(number), "{key}");
    }
    let gib = |value: &Value| format!("{:.2}", value.as_f64().unwrap() / (1u64 << 30) as f64);
    let of = |list: &Value, settings: &str| {
        list.as_array().unwrap().iter().find(|it| it["settings"] == settings).cloned().unwrap()
    };
    assert_eq!(gib(&of(&device["runs"], "expandable_segments:True")["peak_reserved"]), "52.99");
    assert_eq!(gib(&of(&device["fits_in"], "expandable_segments:False")["capacity"]), "51.76");
    assert_eq!(gib(&of(&device["fits_in"], "expandable_segments:True")["capacity"]), "52.80");
}

#[test]
fn planned_sizes_are_simulated() {
    let path = generated("what-if-plan.pickle", "--events 12000");
    let path = path.to_str().unwrap();
    let json = |arguments: &[&str]| -> Value {
        serde_json::from_str(&stdout_of(&[&[path, "--json"], arguments].concat())).unwrap()
    };
    let peak = |json_output: &Value| json_output["devices"][0]["runs"][0]["peak_reserved"].as_u64().unwrap();
    let line = ["--set", "expandable_segments:True"];
    let recorded = json(&line);
    let same = json(&[&line[..], &["--plan", "activation=1", "--preset", "batch=1"]].concat());
    assert_eq!(same["devices"], recorded["devices"]);
    assert_eq!(
        (&same["plan"]["groups"], &same["plan"]["batch"]),
        (&json!([{"group": "activation", "factor": 1.0}]), &json!(1.0))
    );
    assert!(same["plan"]["caveats"][0].as_str().unwrap().starts_with("Batch: "));
    let [half, twice] = ["0.5", "2"].map(|factor| json(&["--plan", &format!("activation={factor}")]));
    assert!(peak(&half) < peak(&recorded) && peak(&recorded) < peak(&twice), "{half} {twice}");
    assert_eq!(half["devices"][0]["reproduces"], recorded["devices"][0]["reproduces"]);
    let text = stdout_of(&[path, "--plan", "activation=2x"]);
    assert!(text.contains("  - Sizes are those of the plan, also with the recorded settings.\n"), "{text}");
    let output = memscape(&[path, "--plan", "kv cache=2x"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("no allocation is in the group “kv cache”"));
    assert_eq!(memscape(&[path, "--plan", "activation"]).status.code(), Some(2));
    // `memscape plan` prints the same prediction.
    let plan = |arguments: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_memscape")).arg("plan").arg(path).args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let run = &twice["devices"][0]["runs"][0];
    let planned: Value = serde_json::from_str(&plan(&["--set", "activation=2", "--json"])).unwrap();
    assert_eq!(
        planned["planned_reserved"],
        json!({
            "peak_reserved": run["peak_reserved"], "peak_reserved_bytes": run["peak_reserved"], "band": run["band"],
            "band_bytes": run["band"], "grade": run["grade"], "oom_event": null, "refused": null
        })
    );
    let text = plan(&["--set", "activation=2"]);
    let line = text.lines().find(|line| line.starts_with("Reserved (simulated) ")).unwrap();
    let open = "depends on what was allocated before the trace)";
    assert!(line.contains("iB with the recorded settings (range ") && line.ends_with(open), "{line}");
    let tight = plan(&["--set", "activation=2", "--capacity", "64MiB"]);
    assert!(tight.contains("Reserved (simulated)  out of memory with 64.0 MiB: "), "{tight}");
}

#[test]
fn simulated_run_is_written_as_snapshot() {
    let path = generated("what-if-out.pickle", "--events 6000");
    let out = path.with_file_name("simulated.pickle.gz");
    let (path, out) = (path.to_str().unwrap(), out.to_str().unwrap());
    let line = "expandable_segments:True";
    let json_result = memscape(&[path, "--set", line, "-o", out, "--json"]);
    let message = String::from_utf8(json_result.stderr).unwrap();
    assert!(
        json_result.status.success()
            && message.starts_with(&format!("memscape: {out}: simulated with {line}: peak reserved ")),
        "{message}"
    );
    let written: Value = serde_json::from_slice(&json_result.stdout).unwrap();
    assert_eq!(
        keys(&written),
        ["device", "ends_at_recorded_event", "events", "peak_reserved", "peak_reserved_bytes", "segments", "settings"]
    );
    let predicted: Value = serde_json::from_str(&stdout_of(&[path, "--json", "--set", line])).unwrap();
    assert_eq!(written["peak_reserved"], predicted["devices"][0]["runs"][1]["peak_reserved"]);
    // The written file opens with the predicted numbers and is marked as simulated.
    let summary = Command::new(env!("CARGO_BIN_EXE_memscape")).args(["summary", out, "--json"]).output().unwrap();
    let summary: Value = serde_json::from_slice(&summary.stdout).unwrap();
    let text = summary.to_string();
    assert!(text.contains("simulated, not recorded: allocator settings expandable_segments:True"), "{text}");
    let again: Value = serde_json::from_str(&stdout_of(&[out, "--json"])).unwrap();
    let again = &again["devices"][0]["reproduces"];
    assert_eq!(again["recorded_peak_reserved"], written["peak_reserved"]);
    assert_eq!(again["addresses_equal"], again["addresses"]);
    // Works with the sizes of a plan as well.
    let planned = memscape(&[path, "--preset", "batch=2", "-o", out]);
    assert!(planned.status.success(), "{planned:?}");
    let two = memscape(&[path, "--set", line, "--set", "max_split_size_mb:64", "-o", out]);
    let error = String::from_utf8(two.stderr).unwrap();
    assert_eq!(error, format!("memscape: {path}: --output writes one run: give --set once\n"));
}
