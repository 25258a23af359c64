//! Growth with the batch size: memory of the size of the model is not scaled, and recordings of real programs with
//! twice the batch are predicted within a few percent.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::opened::recordings_folder;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const MIB: u64 = 1 << 20;
/// Size of cuBLAS's workspace on Hopper, in bytes.
const WORKSPACE: u64 = 32 * MIB;
/// Largest error of a plan for the recorded programs, in percent.
const MAX_ERROR_PERCENT: f64 = 4.0;

fn memscape(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).arg("--json").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A training step in which all allocations are live at once, at the end. Each has a size in MiB, and a function
/// that has a category in the rules below.
fn plan(allocations: &[(&str, u64)], freed: &[usize], factor: &str) -> Value {
    let mut events = Vec::new();
    let event = |action: &str, index: usize, size: u64, function: &str| {
        let frames = if function.is_empty() {
            json!([])
        } else {
            json!([{"name": function, "filename": "train.py", "line": 1}])
        };
        json!({"action": action, "addr": (index as u64 + 1) << 40, "size": size, "stream": 0, "frames": frames})
    };
    for (index, &(function, size)) in allocations.iter().enumerate() {
        events.push(event("alloc", index, size, function));
    }
    for &index in freed {
        let size = allocations[index].1;
        events.push(event("free_requested", index, size, ""));
        events.push(event("free_completed", index, size, ""));
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let names = ["parameter", "gradient", "activation", "temporary", "input", "kv cache"];
    let rules: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), json!(format!("make_{}", name.replace(' ', "_"))))).collect();
    let id = format!("{}-{}", allocations.len(), allocations.iter().map(|it| it.1).sum::<u64>());
    let [file, rules_file] = ["json", "rules"].map(|end| folder.join(format!("growth-{id}.{end}")));
    std::fs::write(&file, json!({"segments": [], "device_traces": [events]}).to_string()).unwrap();
    std::fs::write(&rules_file, json!(rules).to_string()).unwrap();
    memscape(&["plan", file.to_str().unwrap(), "--rules", rules_file.to_str().unwrap(), "--preset", factor])
}

fn planned_bytes(plan: &Value) -> u64 {
    plan["planned"]["peak_live_bytes"].as_u64().unwrap()
}

#[test]
fn memory_of_the_size_of_the_model_does_not_grow_with_the_batch() {
    let (a, p, t) = ("make_activation", "make_parameter", "make_temporary");
    let growing = [(a, 7 * MIB), ("make_input", MIB), ("make_kv_cache", 6 * MIB), (t, 3 * MIB), ("", 5 * MIB)];
    let fixed =
        [(p, 10 * MIB), ("make_gradient", 10 * MIB), (a, WORKSPACE), (a, 5 * MIB), (t, 10 * MIB), ("", WORKSPACE)];
    let all = [&growing[..], &fixed].concat();
    // Everything but the workspaces is freed, in the order of allocation.
    let freed: Vec<usize> = (0..all.len()).filter(|&index| all[index].1 != WORKSPACE).collect();
    let sum = |part: &[(&str, u64)]| part.iter().map(|it| it.1).sum::<u64>();
    let doubled = plan(&all, &freed, "batch=2");
    assert_eq!(doubled["recorded"]["peak_live_bytes"], json!(sum(&all)));
    assert_eq!(planned_bytes(&doubled), 2 * sum(&growing) + sum(&fixed));
}

#[test]
fn activations_of_half_a_parameter_grow_if_there_are_more_of_them_than_parameters() {
    let (a, p) = ("make_activation", "make_parameter");
    let all = [(p, 10 * MIB), (a, 5 * MIB), (a, 5 * MIB)];
    assert_eq!(planned_bytes(&plan(&all, &[1, 2], "batch=3")), 10 * MIB + 3 * 10 * MIB);
}

#[test]
fn plan_for_twice_the_batch_matches_recording_with_twice_the_batch() {
    let Some(folder) = recordings_folder("plans are not compared with them") else { return };
    for program in ["accumulate", "activations", "amp", "mlp", "train"] {
        let file = |variant: &str| folder.join(format!("programs-2.11/{program}.default.{variant}.pickle.gz"));
        let [base, double] = ["base", "b2"].map(|variant| file(variant).to_str().unwrap().to_owned());
        let plan = memscape(&["plan", &base, "--preset", "batch=2"]);
        // The simulated allocator uses the same sizes.
        assert!(plan["planned_reserved"]["peak_reserved_bytes"].as_u64().unwrap() > planned_bytes(&plan), "{program}");
        let planned = planned_bytes(&plan) as f64;
        let truth = memscape(&["plan", &double])["recorded"]["peak_live_bytes"].as_u64().unwrap() as f64;
        let error = (planned / truth - 1.0) * 100.0;
        assert!(error.abs() <= MAX_ERROR_PERCENT, "{program}: {error:+.1} %");
        let measured = memscape(&["plan", &base, "--preset", "batch=2", "--scaling-from", &double]);
        let error = (planned_bytes(&measured) as f64 / truth - 1.0) * 100.0;
        assert!(error.abs() <= MAX_ERROR_PERCENT, "{program}, measured: {error:+.1} %");
    }
}
