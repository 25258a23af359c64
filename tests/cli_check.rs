//! `memscape check`: exit status, limits, baselines, and the reports as text, JSON, JUnit XML and Markdown.

#![cfg(unix)]

use crate::generate;
use crate::zip::zip_of;

use generate::Options;
use memscape::units::Bytes;
use roxmltree::Document;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MIB: u64 = 1 << 20;

/// Creates an empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-check").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes a generated snapshot.
fn write(folder: &Path, name: &str, words: &str) {
    let story = format!("--layers 2 --hidden 128 --frames 12 --record-from-start {words}");
    let (options, _) = Options::parse(story.split_whitespace().map(str::to_owned)).unwrap();
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, generate::generate(&options, Vec::new()).unwrap().0).unwrap();
}

/// Builds a snapshot whose only call site allocates this many MiB, in segments that are half as large again.
pub(crate) fn snapshot(mib: u64, name: &str, filename: &str) -> String {
    let frame = json!({"name": name, "filename": filename, "line": 3});
    let size = mib * MIB;
    let reserved = size + size / 2;
    let events = [
        json!({"action": "segment_alloc", "addr": MIB, "size": reserved, "stream": 0, "time_us": 1, "frames": []}),
        json!({"action": "alloc", "addr": MIB, "size": size, "stream": 0, "time_us": 2, "frames": [frame]}),
    ];
    let blocks = [
        json!({"size": size, "requested_size": size, "state": "active_allocated", "address": MIB}),
        json!({"size": reserved - size, "requested_size": 0, "state": "inactive", "address": MIB + size}),
    ];
    let segment = json!({"device": 0, "address": MIB, "total_size": reserved, "stream": 0, "segment_type": "large",
        "blocks": blocks});
    json!({"segments": [segment], "device_traces": [events]}).to_string()
}

fn memscape(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memscape")).args(words).current_dir(folder).output().unwrap()
}

/// Runs `memscape check`, expects an exit status, and returns standard output.
fn check(folder: &Path, words: &[&str], status: i32) -> String {
    let output = memscape(folder, &[&["check"], words].concat());
    let [out, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(output.status.code(), Some(status), "{words:?}: {out}{error}");
    out
}

fn json_of(folder: &Path, words: &[&str], status: i32) -> Value {
    serde_json::from_str(&check(folder, &[words, &["--json", "-"]].concat(), status)).unwrap()
}

fn parsed(folder: &Path, words: &[&str]) -> Value {
    serde_json::from_slice(&memscape(folder, words).stdout).unwrap()
}

/// Returns the check of a device with this name.
fn named<'a>(device: &'a Value, name: &str) -> &'a Value {
    device["checks"].as_array().unwrap().iter().find(|check| check["check"] == name).unwrap_or(&Value::Null)
}

#[test]
fn figures_equal_those_of_summary_and_diff() {
    let folder = folder("figures");
    write(&folder, "a.pickle", "--steps 3 --sequence 64");
    write(&folder, "b.pickle", "--steps 3 --sequence 128");
    let checked = json_of(&folder, &["b.pickle", "--baseline", "a.pickle", "--noise", "1", "--by", "line"], 3);
    let device = &checked["devices"][0];
    let [a, b] =
        ["a.pickle", "b.pickle"].map(|file| parsed(&folder, &["summary", file, "--json"])[0]["devices"][0].clone());
    for (name, key) in [("live_peak_growth", "peak_requested"), ("reserved_peak_growth", "peak_reserved")] {
        let check = named(device, name);
        let before = a[key].as_u64().unwrap();
        assert_eq!((&check["value_bytes"], &check["baseline_bytes"]), (&b[key], &a[key]), "{check}");
        assert_eq!(check["limit_bytes"].as_u64(), Some(before + before / 50), "{check}");
        assert_eq!(check["outcome"], "exceeded", "{check}");
    }
    // Every call site that grew, with the bytes of `diff`.
    let diff = parsed(&folder, &["diff", "a.pickle", "b.pickle", "--key", "call-site", "--json"]);
    let mut expected: Vec<&Value> =
        diff["rows"].as_array().unwrap().iter().filter(|row| row["delta_bytes"].as_i64() > Some(0)).collect();
    expected.sort_by_key(|row| -row["delta_bytes"].as_i64().unwrap());
    let grown = device["grown"].as_array().unwrap();
    assert!(grown.len() == expected.len().min(20) && !grown.is_empty());
    for (site, row) in grown.iter().zip(expected) {
        assert_eq!(site["name"], row["key"]);
        for key in ["a_bytes", "b_bytes", "delta_bytes", "a_count", "b_count"] {
            assert_eq!(site[key], row[key], "{site}");
        }
    }
    assert_eq!((&device["matched_share"], &device["baseline"]), (&diff["matched_share"], &json!("a.pickle")));
}

#[test]
fn groups_by_function_file_and_module_add_up_to_call_sites() {
    let folder = folder("groups");
    write(&folder, "a.pickle", "--steps 2 --sequence 64");
    write(&folder, "b.pickle", "--steps 2 --sequence 128");
    let rows = |key: &str| parsed(&folder, &["diff", "a.pickle", "b.pickle", "--key", key, "--json"])["rows"].clone();
    // `train.py:12 step` is of the function `train.py step` and of the file `train.py`.
    let sums = |key: &str, part: &dyn Fn(&str) -> String| {
        let mut sums = std::collections::BTreeMap::new();
        for row in rows(key).as_array().unwrap() {
            let sum = sums.entry(part(row["key"].as_str().unwrap())).or_insert([0, 0]);
            sum[0] += row["a_bytes"].as_u64().unwrap();
            sum[1] += row["b_bytes"].as_u64().unwrap();
        }
        sums
    };
    let without_line = |site: &str| match site.split_once(':') {
        Some((file, rest)) => [file, rest.trim_start_matches(|letter: char| letter.is_ascii_digit())].concat(),
        None => site.to_owned(),
    };
    let file = |site: &str| site.split(':').next().unwrap().to_owned();
    let same = |name: &str| name.to_owned();
    assert_eq!(sums("function", &same), sums("call-site", &without_line));
    assert_eq!(sums("file", &same), sums("call-site", &file));
    let all = |_: &str| String::new();
    assert_eq!(sums("module", &all), sums("call-site", &all));
    assert!(sums("module", &same).keys().any(|name| name.contains("called at")), "{}", rows("module"));
    for (by, name) in [("function", "function"), ("file", "file"), ("module", "module")] {
        let checked = json_of(&folder, &["b.pickle", "--baseline", "a.pickle", "--by", by, "--noise", "1"], 3);
        let largest = rows(name).as_array().unwrap().iter().map(|row| row["delta_bytes"].as_i64().unwrap()).max();
        assert_eq!(checked["devices"][0]["grown"][0]["delta_bytes"].as_i64(), largest, "{by}");
    }
}

#[test]
fn exit_status_says_kept_unreadable_invalid_or_exceeded() {
    let folder = folder("status");
    std::fs::write(folder.join("a.json"), snapshot(100, "f", "a.py")).unwrap();
    std::fs::write(folder.join("broken.json"), "{").unwrap();
    check(&folder, &["a.json"], 0);
    check(&folder, &["a.json", "--budget", "150MiB", "--budget-live", "100MiB"], 0);
    check(&folder, &["a.json", "--budget", "149.9MiB"], 3);
    check(&folder, &["a.json", "--budget-live", "99.9MiB"], 3);
    check(&folder, &["broken.json"], 1);
    check(&folder, &["missing.json"], 1);
    // The other files are checked as well.
    let text = check(&folder, &["missing.json", "a.json", "--budget", "1GiB"], 1);
    assert!(text.contains("kept     a.json · GPU 0\n") && text.contains("could not be checked"), "{text}");
    for wrong in [
        &["a.json", "--max-growth", "much"][..],
        &["a.json", "--budget", "-1"],
        &["a.json", "--require-baseline"],
        &["a.json", "--json", "x", "--junit", "./x"],
        &["a.json", "--json", "-", "--markdown", "-"],
        &[],
    ] {
        check(&folder, wrong, 2);
    }
    assert!(!folder.join("x").exists());
}

#[test]
fn growth_within_percentage_size_or_noise_is_kept() {
    let folder = folder("growth");
    std::fs::write(folder.join("a.json"), snapshot(100, "f", "a.py")).unwrap();
    std::fs::write(folder.join("b.json"), snapshot(104, "f", "a.py")).unwrap();
    let run = |more: &[&str], status| check(&folder, &[&["b.json", "--baseline", "a.json"], more].concat(), status);
    run(&[], 3);
    run(&["--max-growth", "4%"], 0);
    run(&["--max-growth", "3.99%"], 3);
    // The reserved peak grows from 150 to 156 MiB.
    run(&["--max-growth", "6MiB"], 0);
    run(&["--max-growth", "5MiB"], 3);
    run(&["--noise", "6MiB"], 0);
    run(&["--noise", "5MiB"], 3);
    // A smaller peak is kept.
    check(&folder, &["a.json", "--baseline", "b.json", "--max-growth", "0", "--noise", "0"], 0);
    let text = run(&[], 3);
    assert_eq!(
        text,
        "EXCEEDED b.json · GPU 0 · baseline a.json
  ok   no out of memory (OOM): 0 OOMs
  FAIL live peak grew by at most 2 %: 100 MiB → 104 MiB (+4.00 MiB, +4.00 %), allowed +2.00 MiB
  FAIL reserved peak grew by at most 2 %: 150 MiB → 156 MiB (+6.00 MiB, +4.00 %), allowed +3.00 MiB
        +4.00 MiB  a.py f: 100 MiB → 104 MiB, 1 → 1 allocation
GPU memory exceeds its limits
"
    );
}

#[test]
fn reserved_peak_may_grow_by_five_percent_if_settings_differ() {
    let folder = folder("settings");
    let with = |text: String, value: bool| {
        let mut value_of: Value = serde_json::from_str(&text).unwrap();
        value_of["allocator_settings"] = json!({"expandable_segments": value});
        value_of.to_string()
    };
    std::fs::write(folder.join("a.json"), with(snapshot(100, "f", "a.py"), false)).unwrap();
    std::fs::write(folder.join("b.json"), with(snapshot(104, "f", "a.py"), true)).unwrap();
    let checked = json_of(&folder, &["b.json", "--baseline", "a.json"], 3);
    let outcome = |name: &str| named(&checked["devices"][0], name)["outcome"].clone();
    assert_eq!((outcome("live_peak_growth"), outcome("reserved_peak_growth")), (json!("exceeded"), json!("kept")));
    assert!(checked["devices"][0]["warnings"].to_string().contains("expandable_segments"), "{checked}");
}

#[test]
fn oom_fails_unless_allowed() {
    let folder = folder("oom");
    write(&folder, "oom.pickle", "--steps 2 --oom");
    let checked = json_of(&folder, &["oom.pickle"], 3);
    let check = named(&checked["devices"][0], "out_of_memory");
    let summary = parsed(&folder, &["summary", "oom.pickle", "--json"]);
    assert_eq!(check["ooms"], summary[0]["devices"][0]["actions"]["oom"]);
    assert_eq!((&check["outcome"], &check["max_ooms"]), (&json!("exceeded"), &json!(0)));
    json_of(&folder, &["oom.pickle", "--allow-oom"], 0);
}

#[test]
fn missing_baseline_is_skipped_unless_required() {
    let folder = folder("missing");
    std::fs::write(folder.join("a.json"), snapshot(100, "f", "a.py")).unwrap();
    std::fs::create_dir(folder.join("empty")).unwrap();
    for baseline in ["none", "empty"] {
        let checked = json_of(&folder, &["a.json", "--baseline", baseline], 0);
        let device = &checked["devices"][0];
        assert_eq!(
            (&device["baseline"], &named(device, "live_peak_growth")["outcome"]),
            (&Value::Null, &json!("skipped"))
        );
        check(&folder, &["a.json", "--baseline", baseline, "--require-baseline"], 1);
    }
}

#[test]
fn folder_of_baselines_is_paired_by_rank_step_and_reason() {
    let folder = folder("ranks");
    for rank in 0..4 {
        for (place, mib) in [("old", 100), ("new", if rank == 2 { 150 } else { 101 })] {
            let path = folder.join(place).join(format!("rank0000{rank}_step000010_exit.json"));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, snapshot(mib + rank, "f", "a.py")).unwrap();
        }
    }
    let checked = json_of(&folder, &["new", "--baseline", "old"], 3);
    let devices = checked["devices"].as_array().unwrap();
    for (rank, device) in devices.iter().enumerate() {
        assert_eq!(device["rank"].as_u64(), Some(rank as u64));
        assert_eq!(device["baseline"], json!(format!("rank0000{rank}_step000010_exit.json")));
        let baseline = (100 + rank as u64) * MIB;
        assert_eq!(named(device, "live_peak_growth")["baseline_bytes"].as_u64(), Some(baseline));
        assert_eq!(device["exceeded"], json!(rank == 2));
    }
    // The worst rank only. All are checked.
    let worst = json_of(&folder, &["new", "--baseline", "old", "--ranks", "worst"], 3);
    assert_eq!((worst["devices"].as_array().unwrap().len(), &worst["devices_left_out"]), (1, &json!(3)));
    assert_eq!(worst["devices"][0], devices[2]);
}

#[test]
fn file_of_another_program_is_checked_with_a_warning() {
    let folder = folder("other");
    std::fs::write(folder.join("a.json"), snapshot(100, "f", "a.py")).unwrap();
    std::fs::write(folder.join("b.json"), snapshot(100, "g", "b.py")).unwrap();
    let text = check(&folder, &["b.json", "--baseline", "a.json"], 0);
    assert!(text.contains("warning: Most live bytes have no counterpart"), "{text}");
}

#[test]
fn reports_escape_names() {
    let folder = folder("hostile");
    let name = "<b>&\"' ]]> | `code` @user [x](http://y) \u{1}\u{1b}[31m";
    let file = "a <b>&\"'|`.json";
    std::fs::write(folder.join("old.json"), snapshot(10, name, "x.py")).unwrap();
    std::fs::write(folder.join(file), snapshot(30, name, "x.py")).unwrap();
    let words = [file, "--baseline", "old.json", "--junit", "j.xml", "--markdown", "m.md", "--json", "j.json"];
    let text = check(&folder, &words, 3);
    assert!(!text.contains(['\u{1}', '\u{1b}']), "{text:?}");
    let junit = std::fs::read_to_string(folder.join("j.xml")).unwrap();
    let document = Document::parse(&junit).unwrap();
    let suites: Vec<_> = document.descendants().filter(|node| node.has_tag_name("testsuite")).collect();
    assert_eq!(suites.len(), 1);
    assert_eq!(suites[0].attribute("name"), Some(&*format!("{file} · GPU 0")));
    assert_eq!((suites[0].attribute("tests"), suites[0].attribute("failures")), (Some("3"), Some("2")));
    let value: Value = serde_json::from_slice(&std::fs::read(folder.join("j.json")).unwrap()).unwrap();
    let checks = value["devices"][0]["checks"].as_array().unwrap();
    let cases: Vec<_> = document.descendants().filter(|node| node.has_tag_name("testcase")).collect();
    for (case, check) in cases.iter().zip(checks) {
        let failure = case.children().find(|node| node.has_tag_name("failure"));
        assert_eq!(case.attribute("name"), check["title"].as_str());
        assert_eq!(
            failure.and_then(|node| node.attribute("message")),
            check["detail"].as_str().filter(|_| check["outcome"] == "exceeded")
        );
        if let Some(failure) = failure {
            let site = failure.text().unwrap();
            assert!(site.starts_with("+20.0 MiB  x.py <b>&\"' ]]> | `code` @user"), "{site}");
        }
    }
    assert_eq!(cases.len(), checks.len());
    // A table row has as many cells as its head, and names are code.
    let markdown = std::fs::read_to_string(folder.join("m.md")).unwrap();
    let row = markdown.lines().find(|line| line.contains("x.py")).unwrap();
    assert_eq!(row.replace("\\|", "").matches('|').count(), 6, "{row}");
    assert!(row.contains("``x.py <b>&\"' ]]> \\| `code` @user") && !row.contains('\u{1b}'), "{row}");
    assert!(
        markdown.contains("<details open><summary>Live bytes at the peak: functions that grew</summary>"),
        "{markdown}"
    );
}

#[test]
fn markdown_lists_limits_and_results() {
    let folder = folder("markdown");
    std::fs::write(folder.join("a.json"), snapshot(100, "f", "a.py")).unwrap();
    let markdown = check(&folder, &["a.json", "--budget", "1GiB", "--markdown", "-"], 0);
    let budget = format!("150 MiB, {} left", Bytes((1 << 30) - 150 * MIB));
    assert_eq!(
        markdown,
        format!(
            "## GPU memory is within its limits

| file | limit | result |
| --- | --- | --- |
| `a.json · GPU 0` | no out of memory (OOM) | ✓ 0 OOMs |
| `a.json · GPU 0` | reserved peak within 1.00 GiB | ✓ {budget} |
"
        )
    );
}

#[test]
fn file_without_segments_is_checked_by_live_bytes() {
    let folder = folder("no-segments");
    let mut value: Value = serde_json::from_str(&snapshot(100, "f", "a.py")).unwrap();
    value["segments"] = json!([]);
    value["device_traces"][0].as_array_mut().unwrap().remove(0);
    std::fs::write(folder.join("a.json"), value.to_string()).unwrap();
    let text = check(&folder, &["a.json", "--budget", "50MiB"], 3);
    assert!(text.contains("warning: No segments recorded"), "{text}");
}

#[test]
fn reports_do_not_overwrite_snapshots() {
    let folder = folder("overwrite");
    for name in ["a.json", "old/b.json"] {
        std::fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        std::fs::write(folder.join(name), snapshot(10, "f", "a.py")).unwrap();
    }
    std::fs::hard_link(folder.join("a.json"), folder.join("linked")).unwrap();
    for option in ["--json", "--junit", "--markdown"] {
        for out in ["a.json", "./a.json", "linked", "old/b.json"] {
            let output = memscape(&folder, &["check", "a.json", "--baseline", "old", option, out]);
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{option} {out}: {error}");
            assert!(error.contains("would overwrite the input"), "{option} {out}: {error}");
            assert_eq!(std::fs::read_to_string(folder.join("a.json")).unwrap(), snapshot(10, "f", "a.py"));
        }
    }
}

#[test]
fn every_device_and_every_snapshot_of_an_archive_is_checked() {
    let folder = folder("devices");
    write(&folder, "two.pickle", "--steps 2 --devices 2");
    let checked = json_of(&folder, &["two.pickle", "--baseline", "two.pickle", "--max-growth", "0", "--noise", "0"], 0);
    let devices: Vec<_> = checked["devices"].as_array().unwrap().iter().map(|it| it["device"].as_i64()).collect();
    assert_eq!(devices, [Some(0), Some(1)]);
    let [small, large] = [10, 20].map(|mib| snapshot(mib, "f", "a.py"));
    let archive = zip_of(&[("rank0.json", small.as_bytes()), ("rank1.json", large.as_bytes())]);
    std::fs::write(folder.join("all.zip"), archive).unwrap();
    let checked = json_of(&folder, &["all.zip", "--budget-live", "15MiB"], 3);
    let found: Vec<_> =
        checked["devices"].as_array().unwrap().iter().map(|it| (&it["file"], &it["exceeded"])).collect();
    assert_eq!(found, [(&json!("all.zip/rank0.json"), &json!(false)), (&json!("all.zip/rank1.json"), &json!(true))]);
}
