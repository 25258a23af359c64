//! `memscape whatif` with changed programs, a total memory, and limits that the recording shows.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A sample snapshot of the page.
fn sample(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("www").join(name).to_str().unwrap().to_owned()
}

/// A recording of the real allocator, if it is there.
fn recording(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/recordings").join(name);
    path.exists().then_some(path)
}

fn what_if(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memscape")).arg("whatif").args(arguments).output().unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = what_if(arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Standard error of a command that fails with this status.
fn error(arguments: &[&str], status: i32) -> String {
    let output = what_if(arguments);
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn device(arguments: &[&str]) -> Value {
    let answer: Value = serde_json::from_str(&text(arguments)).unwrap();
    answer["devices"][0].clone()
}

#[test]
fn each_program_is_a_row() {
    let path = sample("training.pickle.gz");
    let arguments = [&*path, "--json", "--program", "one-stream,preallocate=2GiB", "--program", "empty-cache"];
    let answer = device(&arguments);
    let programs: Vec<&Value> = answer["runs"].as_array().unwrap().iter().map(|run| &run["program"]).collect();
    let program = |is_first: bool| {
        json!({
            "one_stream": is_first, "no_record_stream": false, "preallocate_bytes": if is_first { 2u64 << 30 } else { 0 },
            "empty_cache_at_step_ends": !is_first
        })
    };
    assert_eq!(programs, [&Value::Null, &program(true), &program(false)]);
    let calls = |at: usize| answer["runs"][at]["driver_calls"].as_u64().unwrap();
    assert!(calls(1) < calls(0) && calls(0) < calls(2), "{answer}");
    let words = text(&[&path, "--program", "one-stream,preallocate=2GiB", "--program", "empty-cache"]);
    for program in ["one stream, 2.00 GiB allocated first", "empty_cache() at step ends"] {
        let name = format!(" expandable_segments:False with {program} ");
        assert!(words.lines().any(|line| line.contains(&name) && line.ends_with("exact on this file")), "{words}");
    }
    // Other settings are simulated with the program as well.
    let both = device(&[&path, "--json", "--set", "expandable_segments:True", "--program", "no-record-stream"]);
    assert_eq!(both["runs"].as_array().unwrap().len(), 4);
}

#[test]
fn invalid_program_lists_possible_values() {
    let path = sample("training.pickle.gz");
    for program in ["foo", "one-stream,foo", "one-stream=1", ""] {
        let error = error(&[&path, "--program", program], 2);
        let expected = "expected one-stream, no-record-stream, preallocate=SIZE or empty-cache, not “";
        assert!(error.contains(expected), "{program}: {error}");
    }
    assert!(error(&[&path, "--program", "preallocate=much"], 2).contains("preallocate: Invalid size."));
    assert!(error(&[&path, "--total", "much"], 2).contains("Invalid size."));
    let written = error(&[&path, "--program", "one-stream", "-o", "/nowhere/a.pickle"], 1);
    assert!(written.ends_with(": --output writes the recorded program: leave out --program\n"), "{written}");
}

#[test]
fn empty_cache_without_steps_is_rejected() {
    let error = error(&[&sample("out-of-memory.pickle.gz"), "--program", "empty-cache"], 1);
    let reason = "no steps were found in this recording: empty_cache() at step ends cannot be simulated\n";
    assert!(error.ends_with(reason), "{error}");
}

#[test]
fn survey_of_oom_names_settings_that_avoid_it() {
    let path = sample("out-of-memory.pickle.gz");
    let survey = text(&[&path]);
    let sentence = "  - The out-of-memory error would not have happened with expandable_segments:True or ";
    assert!(survey.contains(sentence) && survey.contains("; least memory with expandable_segments:True."), "{survey}");
    assert!(survey.contains("  - The recording shows the limit of the device's memory: 9.91 GiB.\n"), "{survey}");
    let less = text(&[&path, "--capacity", "9GiB"]);
    assert!(less.contains("would not have happened with expandable_segments:True"), "{less}");
    assert!(less.contains("  - Device memory: 9.00 GiB.\n"), "{less}");
    // With more memory, the recorded settings avoid it as well.
    let more = text(&[&path, "--capacity", "80GiB", "--set", "max_split_size_mb:64"]);
    assert!(more.contains("would not have happened with expandable_segments:False or max_split_size_mb:64;"), "{more}");
    let too_small = text(&[&path, "--capacity", "1GiB"]);
    assert!(too_small.contains("None of these settings avoids the out-of-memory error."), "{too_small}");
}

#[test]
fn memory_fraction_applies_to_total_memory() {
    let path = sample("training.pickle.gz");
    let run = |total: &str| {
        let line = "per_process_memory_fraction:0.5";
        let answer = device(&[&path, "--json", "--set", line, "--total", total, "--capacity", "80GiB"]);
        let runs = answer["runs"].as_array().unwrap();
        (answer["total_bytes"].clone(), runs.iter().find(|run| run["settings"] == line).unwrap().clone())
    };
    let (bytes, fits) = run("8GiB");
    assert_eq!((bytes, &fits["runs_out_of_memory"]), (json!(8u64 << 30), &json!(false)));
    let (_, fails) = run("2GiB");
    assert_eq!(fails["runs_out_of_memory"], json!(true));
    assert!(fails["peak_reserved_bytes"].as_u64().unwrap() <= 1 << 30);
}

#[test]
fn results_at_both_ends_of_limit_are_listed() {
    let Some(path) = recording("torch-2.15/tight.default.pickle.gz") else { return };
    let path = path.to_str().unwrap();
    let lines = ["--set", "roundup_power2_divisions:8", "--set", "roundup_power2_divisions:4"];
    let words = text(&[&[path][..], &lines].concat());
    let limit = "The recording shows a limit of the device's memory between 3.96 GiB and 4.01 GiB: the other rows are simulated with both.";
    assert!(words.contains(limit), "{words}");
    let rows = || words.lines().filter(|line| line.ends_with("untested here"));
    let row = |settings: &str| rows().find(|line| line.contains(&format!(" {settings} "))).unwrap();
    assert!(row("roundup_power2_divisions:8").contains("may fail: event "), "{words}");
    assert!(row("roundup_power2_divisions:4").split_whitespace().any(|word| word == "3–5"), "{words}");
    let answer = device(&[&[path, "--json"][..], &lines].concat());
    assert_eq!(answer["recorded_limit"]["is_memory_fraction"], json!(false));
    let [_, unsure, retried] = answer["runs"].as_array().unwrap().as_slice() else { panic!("{answer}") };
    assert_eq!((&unsure["runs_out_of_memory"], &retried["runs_out_of_memory"]), (&Value::Null, &json!(false)));
    assert_eq!(retried["retry_range"], json!([3, 5]));
    assert_eq!(retried["with_lowest_limit"].as_object().unwrap().len(), 4);
}
