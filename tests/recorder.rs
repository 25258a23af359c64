//! Data that the recorder adds to a snapshot: read from every format, kept by every conversion, and shown instead of
//! inferred values.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::opened;
use crate::recorded::{FILE, MIB, PEAK, snapshot};
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    CAPACITY, COUNTED_PEAK, OUTSIDE_ALLOCATOR, PeakCheck, REASON_RECORDER, Scope, TENSORS, TENSORS_FOUND,
};
use opened::{Opened, open};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recorder");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn write_snapshot(name: &str, value: &Value) -> PathBuf {
    let path = folder().join(name);
    let bytes = match name.ends_with(".json") {
        true => value.to_string().into_bytes(),
        false => serde_pickle::to_vec(value, serde_pickle::SerOptions::new()).unwrap(),
    };
    std::fs::write(&path, bytes).unwrap();
    path
}

fn memscape(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_memscape")).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json_output(words: &[&str]) -> Value {
    serde_json::from_str(&memscape(words)).unwrap()
}

/// The allocation at an address that is live at the end of the trace.
fn last_at(opened: &mut Opened, address: u64) -> u32 {
    let count = opened.summary.devices[0].allocations as u32;
    let of = |opened: &mut Opened, id| opened.details(0, id).unwrap();
    (0..count).rev().find(|&id| of(opened, id).address == Some(address)).unwrap()
}

fn check_recorder_data(opened: &mut Opened, what: &str) {
    let summary = opened.summary.clone();
    let recorder = |key: &str| summary.recorder.iter().find(|(known, _)| known == key).map(|(_, text)| &**text);
    assert_eq!(
        (recorder("rank"), recorder("coords.tp"), recorder("reason")),
        (Some("3"), Some("1"), Some("oom")),
        "{what}"
    );
    let device = &summary.devices[0];
    assert_eq!(
        (recorder("devices.0.name"), device.recorder_value(CAPACITY)),
        (Some("NVIDIA H100"), Some(256 * MIB)),
        "{what}"
    );
    // The process uses 200 MiB: 180 MiB reserved, 20 MiB outside the allocator.
    assert_eq!(device.recorder_value(OUTSIDE_ALLOCATOR), Some(20 * MIB), "{what}");
    assert_eq!(device.available_bytes(), Some(176 * MIB), "{what}");
    assert_eq!(
        (device.recorder_value(COUNTED_PEAK), device.peak_check()),
        (Some(PEAK), Some(PeakCheck::Equal)),
        "{what}"
    );
    assert_eq!((device.recorder_value(TENSORS), device.recorder_value(TENSORS_FOUND)), (Some(5), Some(4)), "{what}");

    let expected = [
        (0, "parameter", "parameter", "layers.0.weight", "[4096, 5120]"),
        (64, "gradient", "gradient", "layers.0.weight", "[4096, 5120]"),
        (128, "optimizer state", "optimizer_state:exp_avg", "layers.0.weight", "[4096, 5120]"),
        (256, "buffer", "buffer", "rope.cache", "[]"),
    ];
    for (at, category, kind, name, shape) in expected {
        let id = last_at(opened, 0x7f00_0000_0000 + at * MIB);
        let details = opened.details(0, id).unwrap();
        let details_category = details.category.unwrap();
        assert_eq!((&*details_category.name, &*details_category.reason), (category, REASON_RECORDER), "{what}");
        let [tensor] = &details.tensors[..] else { panic!("{what}: {:?}", details.tensors) };
        assert_eq!(*tensor, format!("{name} · {kind} · {shape} · bfloat16"), "{what}");
    }
    let reused = last_at(opened, 0x7f00_0000_0000 + 320 * MIB);
    assert!(opened.details(0, reused).unwrap().tensors.is_empty(), "{what}: another size");
    let freed = opened.details(0, 4).unwrap();
    assert!(freed.freed_event.is_some() && freed.tensors.is_empty(), "{what}: freed allocation has no tensor");
    assert_eq!(freed.annotations, ["ProfilerStep#1"], "{what}");

    let question = Question::Sources(Scope::All);
    let Reply::Answer { answer: Answer::Sources(page), .. } =
        opened.reply(Request::Ask(Ask { serial: 1, device: 0, question }))
    else {
        panic!("no sources");
    };
    let [file] = &page.files[..] else { panic!("{:?}", page.files) };
    assert_eq!(file.path, FILE);
    let mut lines: Vec<_> = file.lines.iter().map(|line| (&*line.line, &*line.code)).collect();
    lines.sort_unstable();
    let expected = [("2", "return Model().cuda()"), ("3", "loss.backward()"), ("4", "return logits(x)")];
    assert_eq!(lines, expected, "{what}");
}

#[test]
fn every_format_keeps_recorder_data() {
    let json = write_snapshot("all.json", &snapshot());
    let pickle = write_snapshot("all.pickle", &snapshot());
    for (name, from) in [("of_json", &json), ("of_pickle", &pickle)] {
        check_recorder_data(&mut open(&std::fs::read(from).unwrap()).unwrap(), name);
        for ending in ["pickle", "json", "columns", "columns.gz"] {
            let to = folder().join(format!("{name}.{ending}"));
            memscape(&["convert", from.to_str().unwrap(), "-o", to.to_str().unwrap()]);
            check_recorder_data(&mut open(&std::fs::read(&to).unwrap()).unwrap(), &format!("{name}.{ending}"));
        }
    }
    // The key itself is preserved, except for the order of its keys.
    let again: Value = serde_json::from_slice(&std::fs::read(folder().join("of_pickle.json")).unwrap()).unwrap();
    assert_eq!(again["memscape"], snapshot()["memscape"]);
}

#[test]
fn cropped_file_keeps_tensors_live_at_its_end() {
    let file = write_snapshot("whole.pickle", &snapshot());
    let crop = folder().join("crop.json");
    let pickle = folder().join("crop.pickle");
    // Weight and gradient.
    memscape(&["crop", file.to_str().unwrap(), "--from", "0", "--to", "1", "-o", pickle.to_str().unwrap()]);
    memscape(&["convert", pickle.to_str().unwrap(), "-o", crop.to_str().unwrap()]);
    let crop: Value = serde_json::from_slice(&std::fs::read(crop).unwrap()).unwrap();
    let names: Vec<_> = crop["memscape"]["tensors"].as_array().unwrap().iter().map(|it| &it["kind"]).collect();
    assert_eq!(names, ["parameter", "gradient"]);
    assert_eq!(crop["memscape"]["rank"], 3);
    let opened = open(&std::fs::read(pickle).unwrap()).unwrap();
    // A crop has another peak, which PyTorch never counted.
    assert_eq!(opened.summary.devices[0].peak_check(), None);
}

#[test]
fn command_line_shows_recorder_data() {
    let file = write_snapshot("told.pickle", &snapshot());
    let file = file.to_str().unwrap();
    let summary = json_output(&["summary", "--json", file]);
    assert_eq!(summary[0]["recorder"]["host"], "node7");
    assert_eq!(summary[0]["devices"][0]["peak_check"], "equal");
    assert_eq!(summary[0]["devices"][0]["recorder"]["outside_allocator_bytes"], 20 * MIB);
    let text = memscape(&["summary", file]);
    assert!(text.contains("equal to the peak above") && text.contains("used outside the allocator"), "{text}");

    // Search by tensor name, which no frame contains.
    let found = json_output(&["allocations", "--json", file, "layers.0"]);
    assert_eq!(found["count"], 3);
    let kinds: Vec<_> = found["rows"].as_array().unwrap().iter().map(|row| &row["tensor"]["kind"]).collect();
    assert_eq!(kinds, ["optimizer_state:exp_avg", "parameter", "gradient"]);
    assert_eq!(found["rows"][0]["tensor"]["shape"], "[4096, 5120]");
    assert_eq!(
        json_output(&["allocations", "--json", file, "train.py"])["rows"][1]["call_site"],
        "layers.0.weight · train.py:2 step"
    );

    // Memory used outside the allocator is not part of its capacity.
    assert_eq!(json_output(&["plan", "--json", file, "--preset", "batch=2"])["capacity_bytes"], 176 * MIB);
    assert_eq!(json_output(&["plan", "--json", file, "--capacity", "1GiB"])["capacity_bytes"], 1024 * MIB);
    let oom = memscape(&["oom", file]);
    assert!(oom.contains("Other processes used 60.0 MiB of this GPU"), "{oom}");
    assert!(oom.contains("nvidia-smi"), "{oom}");
    assert!(oom.contains("This process used 20.0 MiB outside the allocator"), "{oom}");
    let steps = json_output(&["steps", "--json", file]).to_string();
    assert!(steps.contains("ProfilerStep#1"), "{steps}");
}

#[test]
fn step_annotations_override_recorded_steps() {
    let mut value = snapshot();
    let mark = |stage: &str, time_us: u64| json!({ "stage": stage, "name": "ProfilerStep#7", "device": 0, "time_us": time_us });
    value["external_annotations"] = json!([mark("START", 1_700_000_000_001_500), mark("END", 1_700_000_000_008_500)]);
    let mut opened = open(value.to_string().as_bytes()).unwrap();
    assert_eq!(opened.details(0, 4).unwrap().annotations, ["ProfilerStep#7"]);
}

#[test]
fn peak_mismatch_is_classified() {
    for (peak, check) in [(PEAK + 1, PeakCheck::Earlier), (PEAK - 1, PeakCheck::Reset)] {
        let mut value = snapshot();
        value["memscape"]["devices"][0]["stats"]["requested_bytes.all.peak"] = json!(peak);
        let opened = open(value.to_string().as_bytes()).unwrap();
        assert_eq!(opened.summary.devices[0].peak_check(), Some(check));
    }
}

/// A snapshot opens, and can be written again, with any value under the recorder's key.
#[test]
fn file_with_any_value_under_recorder_key_opens() {
    let mut deep = json!(1);
    for _ in 0..200 {
        deep = json!({ "a": [deep] });
    }
    let values = [
        json!(null),
        json!(7),
        json!([[[]]]),
        json!({ "tensors": 1, "steps": {}, "source": [], "devices": { "device": 0 } }),
        json!({ "tensors": [{ "addr": -1, "bytes": 1 }, { "addr": 1e300, "bytes": {} }, [1], { "addr": u64::MAX, "bytes": u64::MAX }] }),
        json!({ "steps": [[1, 2], [1, 2, 3, 4], [0, i64::MAX, i64::MIN], [0, i64::MIN, i64::MAX], "x"] }),
        json!({ "devices": [{ "device": 0, "capacity_bytes": -5, "process_bytes": i64::MAX, "other_processes_bytes": i64::MAX }] }),
        json!({ "rank": "\u{1b}[2J", "source": { "a": 7, "b": "x".repeat(1 << 20) } }),
        deep,
    ];
    for (at, value) in values.into_iter().enumerate() {
        let mut snapshot = snapshot();
        snapshot["memscape"] = value.clone();
        snapshot["source_code"] = value.clone();
        snapshot["shape_data"] = json!([value]);
        let file = write_snapshot(&format!("odd{at}.json"), &snapshot);
        let to = folder().join(format!("odd{at}.columns"));
        memscape(&["convert", file.to_str().unwrap(), "-o", to.to_str().unwrap()]);
        for file in [&file, &to] {
            let file = file.to_str().unwrap();
            let summary = json_output(&["summary", "--json", file]);
            assert_eq!(summary[0]["devices"][0]["peak_requested"], PEAK, "{at}");
            assert!(!memscape(&["oom", file]).contains('\u{1b}'));
            memscape(&["plan", file, "--preset", "batch=2"]);
        }
    }
}
