//! `memscape diff`: text, JSON, Markdown and errors.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate;

use generate::Options;
use memscape::protocol::SCHEMA;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn memscape(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memscape")).arg("diff").args(arguments).output().unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = memscape(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), error.as_str()), (Some(0), ""), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&text(&[arguments, &["--json"]].concat())).unwrap()
}

/// Generates a snapshot file of the given name.
fn file(name: &str, words: &str) -> String {
    let (options, _) = Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, generate::generate(&options, Vec::new()).unwrap().0).unwrap();
    path.to_str().unwrap().to_owned()
}

fn pair(name: &str) -> [String; 2] {
    let story = "--steps 2 --layers 2 --hidden 128 --record-from-start --frames 12";
    [
        file(&format!("{name}-a.pickle"), &format!("{story} --sequence 64")),
        file(&format!("{name}-b.pickle"), &format!("{story} --sequence 256")),
    ]
}

#[test]
fn piped_text_has_full_names() {
    let [a, b] = pair("diff-text");
    for key in ["stack", "call-site", "category", "annotation", "module", "pool"] {
        let text = text(&[&a, &b, "--key", key]);
        assert!(!text.contains('…'), "{key}: {text}");
        assert!(text.contains("B's peak is") && text.contains("\n  total "), "{text}");
    }
    let markdown = text(&[&a, &b, "--markdown"]);
    assert!(
        markdown.starts_with("## Comparison: diff-text-a.pickle · GPU 0 → diff-text-b.pickle · GPU 0\n"),
        "{markdown}"
    );
    // Same sections as on the page.
    for title in ["Moments", "Call tree", "Steps", "Allocations that differ", "Scaling", "Lifetimes"] {
        assert!(markdown.contains(&format!("\n### {title}")), "{title}: {markdown}");
    }
}

#[test]
fn files_of_the_same_name_are_distinguished_by_their_folders() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("diff-folders");
    let [a, b] = ["old/run", "new/run"].map(|name| {
        std::fs::create_dir_all(folder.join(name)).unwrap();
        file(&format!("diff-folders/{name}/snapshot.pickle"), "--steps 2 --layers 2 --hidden 128")
    });
    let compared = text(&[&a, &b]);
    let wanted = "Comparison: old/run/snapshot.pickle · GPU 0 → new/run/snapshot.pickle · GPU 0\n";
    assert!(compared.starts_with(wanted), "{compared}");
    let compared = text(&[&a, &a]);
    assert!(compared.starts_with("Comparison: snapshot.pickle · GPU 0 → snapshot.pickle · GPU 0\n"), "{compared}");
}

#[test]
fn json_rows_sum_to_totals() {
    let [a, b] = pair("diff-json");
    let diff = json(&[&a, &b]);
    assert_eq!(diff["schema"], SCHEMA);
    let live = |side: &str| diff[side]["live_bytes"].as_i64().unwrap();
    assert_eq!(diff["delta_bytes"].as_i64().unwrap(), live("b") - live("a"));
    let rows = diff["rows"].as_array().unwrap();
    let sum = |field: &str| rows.iter().map(|row| row[field].as_i64().unwrap()).sum::<i64>();
    assert_eq!((sum("a_bytes"), sum("b_bytes"), sum("delta_bytes")), (live("a"), live("b"), live("b") - live("a")));
    assert_eq!((diff["alignment"].as_str(), diff["key"].as_str()), (Some("steps"), Some("stack")));
    assert_eq!(diff["matched_share"].as_f64(), Some(1.0));
    assert!((1..=5).contains(&diff["verdict"].as_array().unwrap().len()));
    let steps = diff["steps"].as_array().unwrap();
    assert_eq!((steps.len(), steps[1]["a_count"].as_i64()), (2, steps[1]["b_count"].as_i64()));
    assert!(steps.iter().all(|step| step["delta_bytes"].as_i64() > Some(0)), "{steps:?}");
    let allocations = diff["allocations"].as_array().unwrap();
    assert!(allocations.iter().all(|row| row["relation"] == "×4" || row["relation"] == "×16"), "{allocations:?}");
    let factors: Vec<f64> =
        diff["scaling"].as_array().unwrap().iter().map(|group| group["factor"].as_f64().unwrap()).collect();
    assert!([1.0, 4.0, 16.0].iter().all(|factor| factors.contains(factor)), "{factors:?}");
}

#[test]
fn two_positions_in_one_file_are_compared() {
    let [a, _] = pair("diff-moments");
    let diff = json(&[&a, &a, "--at-a", "-1", "--at-b", "peak"]);
    assert_eq!((diff["a"]["event"].as_i64(), diff["a"]["live_bytes"].as_i64()), (Some(-1), Some(0)));
    assert_eq!(diff["delta_bytes"], diff["b"]["live_bytes"]);
    assert_eq!(diff["key"], "stack", "a file compared with itself has all stacks in common");
    // Only one position is given. The other is aligned with it.
    let diff = json(&[&a, &a, "--at-a", "40"]);
    assert_eq!((diff["b"]["event"].as_i64(), diff["delta_bytes"].as_i64()), (Some(40), Some(0)));
}

#[test]
fn range_options_restrict_compared_peaks() {
    let [a, b] = pair("diff-range");
    let whole = json(&[&a, &b]);
    let diff = json(&[&a, &b, "--from", "-1", "--to", "end"]);
    assert_eq!((&diff["a"], &diff["b"]), (&whole["a"], &whole["b"]));
    let peak = whole["a"]["event"].as_i64().unwrap();
    let diff = json(&[&a, &b, "--to", &(peak / 2).to_string()]);
    assert!(
        diff["a"]["event"].as_i64() <= Some(peak / 2)
            && diff["a"]["live_bytes"].as_i64() < whole["a"]["live_bytes"].as_i64()
    );
    let refused = memscape(&[&a, &b, "--from", "3", "--at-a", "peak"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn invalid_arguments_report_error() {
    let [a, b] = pair("diff-wrong");
    let refused = |arguments: &[&str], code: i32, sentence: &str| {
        let output = memscape(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(error.contains(sentence), "{error}");
    };
    refused(&[&a, "no-such-file.pickle"], 1, "no-such-file.pickle: ");
    refused(&[&a, &b, "--device-b", "7"], 1, "diff-wrong-b.pickle: no such device; available: 0");
    refused(&[&a, &b, "--at-a", "99999999"], 1, "diff-wrong-a.pickle: no event 99,999,999");
    refused(&[&a, &b, "--key", "colour"], 2, "stack");
}
