//! Exports add up to the page's call tree and to what a Python script finds in the snapshot and in every exported file.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate;
use crate::opened;

use generate::Options;
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::exports::{Total, TraceLayout, write};
use memscape::protocol::{ExportFormat, ExportQuestion, ExportTable, Scope, Span, TreeQuestion};
use opened::{Opened, open, real_pickles};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn question_at(opened: &Opened, at: u32) -> ExportQuestion {
    let events = opened.summary.devices[0].events as u32;
    let range = Span { from: 0, to: events };
    let (format, table) = (ExportFormat::Collapsed, ExportTable::Allocations);
    ExportQuestion { format, table, cursor: at, range, scope: Scope::At(at), largest: 200 }
}

fn written(opened: &mut Opened, device: i64, question: &ExportQuestion) -> (Vec<u8>, Total) {
    let mut out = Vec::new();
    let total = write(opened.engine.complete_side(device).unwrap(), question, &mut out).unwrap();
    (out, total)
}

/// Writes every format and table of a device into a folder.
fn fill(folder: &Path, opened: &mut Opened, device: i64, question: ExportQuestion) {
    std::fs::create_dir_all(folder).unwrap();
    for format in ExportFormat::ALL {
        let tables = if format.has_rows() { &ExportTable::ALL[..] } else { &[ExportTable::Allocations] };
        for &table in tables {
            let name = if format.has_rows() {
                format!("{}.{}", table.name(), format.name())
            } else {
                format.name().to_owned()
            };
            let scope = if format.has_rows() { Scope::All } else { question.scope };
            let (bytes, _) = written(opened, device, &ExportQuestion { format, table, scope, ..question });
            std::fs::write(folder.join(name), bytes).unwrap();
        }
    }
}

#[test]
fn every_export_matches_bytes_computed_by_python() {
    let Some(files) = real_pickles() else { return };
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: no python3 to read exports with");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(opened::snapshots().unwrap().join("expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&text).unwrap();
    let mut checked = 0;
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Ok(mut opened) = open(&std::fs::read(&path).unwrap()) else { continue };
        for device in opened.summary.devices.clone() {
            let known = expected[&name].as_array().unwrap().iter().find(|entry| entry["device"] == device.device);
            // If a block appears twice, as in the anonymized file, the drawn peak is higher than the counted one.
            let Some(known) = known.filter(|known| known["peak_requested"] == device.drawn_peak) else { continue };
            let at = u32::try_from(known["peak_event"].as_i64().unwrap() + 1).unwrap();
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("exports/{name}-{}", device.device));
            let range = Span { from: 0, to: device.events as u32 };
            let question = ExportQuestion { range, ..question_at(&opened, at) };
            fill(&folder, &mut opened, device.device, question);
            let done = Command::new("python3")
                .arg(root.join("tests/export.py"))
                .arg(&path)
                .args([device.device.to_string(), expected[&name].to_string()])
                .arg(&folder)
                .output()
                .unwrap();
            assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
            checked += 1;
        }
    }
    assert!(checked >= 20, "{checked} devices");
}

#[test]
fn exported_totals_match_call_tree() {
    let story = "--steps 3 --layers 3 --frames 20 --oom";
    let (options, _) = Options::parse(story.split_whitespace().map(str::to_owned)).unwrap();
    let mut opened = open(&generate::generate(&options, Vec::new()).unwrap().0).unwrap();
    let events = opened.summary.devices[0].events as u32;
    let span = Span { from: events / 4, to: events / 2 };
    for scope in [
        Scope::All,
        Scope::At(0),
        Scope::At(events / 3),
        Scope::At(events),
        Scope::Allocated(span),
        Scope::Freed(span),
        Scope::StillLive(span),
    ] {
        let tree = TreeQuestion {
            scope,
            arrangement: Default::default(),
            focus: None,
            folds: Vec::new(),
            reveal: None,
            search_serial: None,
            rows: [0, 1],
        };
        let ask = Ask { serial: 1, device: 0, question: Question::Tree(Box::new(tree)) };
        let Reply::Answer { answer: Answer::Tree(page), .. } = opened.reply(Request::Ask(ask)) else { panic!() };
        let question = ExportQuestion { scope, range: span, ..question_at(&opened, events / 3) };
        let (bytes, total) = written(&mut opened, 0, &question);
        assert_eq!((total.bytes, total.count), (page.total.bytes, page.total.count.into()), "{scope:?}");
        let lines = String::from_utf8(bytes).unwrap();
        let sum: u64 = lines.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum();
        assert_eq!(sum, page.total.bytes, "{scope:?}");
        let rows = ExportQuestion { format: ExportFormat::JsonLines, ..question };
        let (bytes, total) = written(&mut opened, 0, &rows);
        assert_eq!((total.bytes, total.count), (page.total.bytes, page.total.count.into()), "{scope:?}");
        assert_eq!(bytes.iter().filter(|&&byte| byte == b'\n').count() as u64, total.count, "{scope:?}");
    }
}

/// Returns the trace that the profiler would write for the run of a snapshot that begins at `first_us`.
fn profiler_trace(first_us: i64, base_ns: Option<i64>) -> String {
    let since = |us: i64| us as f64 - base_ns.map_or(0.0, |base| base as f64 / 1000.0);
    let events: Vec<Value> = (0..50)
        .map(|at| {
            serde_json::json!({"ph": "X", "cat": "kernel", "name": format!("kernel {at} \"]}}\""), "pid": 0, "tid": 7,
                "ts": since(first_us + at * 10), "dur": 5})
        })
        .collect();
    let mut trace = serde_json::json!({"schemaVersion": 1, "traceEvents": events, "traceName": "trace.json"});
    if let Some(base) = base_ns {
        trace["baseTimeNanoseconds"] = base.into();
    }
    trace.to_string()
}

#[test]
fn memory_counters_are_added_to_profiler_trace() {
    let story = "--steps 2 --layers 2 --record-from-start";
    let (options, _) = Options::parse(story.split_whitespace().map(str::to_owned)).unwrap();
    let mut opened = open(&generate::generate(&options, Vec::new()).unwrap().0).unwrap();
    let (device, peak) = (opened.summary.devices[0].device, opened.summary.devices[0].drawn_peak);
    let (first, _) = opened.summary.devices[0].time_us.unwrap();
    let question = ExportQuestion { format: ExportFormat::Trace, ..question_at(&opened, 0) };
    for base in [None, Some(1_700_000_000_123_456_789), Some(0)] {
        let trace = profiler_trace(first, base);
        let kineto = TraceLayout::read(&mut trace.as_bytes()).unwrap();
        let mut out = Vec::new();
        let side = opened.engine.complete_side(device).unwrap();
        kineto.write(&mut trace.as_bytes(), side, &question, &mut out).unwrap();
        let both: Value = serde_json::from_slice(&out).unwrap();
        let (before, after) = (serde_json::from_str::<Value>(&trace).unwrap(), both["traceEvents"].as_array().unwrap());
        // The profiler's events are unchanged.
        let kernels: Vec<&Value> = after.iter().filter(|event| event["cat"] == "kernel").collect();
        assert_eq!(kernels, before["traceEvents"].as_array().unwrap().iter().collect::<Vec<_>>());
        assert_eq!(
            (&both["traceName"], &both["baseTimeNanoseconds"]),
            (&before["traceName"], &before["baseTimeNanoseconds"])
        );
        let live = after.iter().filter(|event| event["name"] == "Live bytes (requested)");
        let most = live.clone().max_by_key(|event| event["args"]["bytes"].as_u64()).unwrap();
        assert_eq!(most["args"]["bytes"], peak);
        // The counter starts at the first kernel.
        let begin = live.clone().next().unwrap()["ts"].as_f64().unwrap();
        assert!((begin - kernels[0]["ts"].as_f64().unwrap()).abs() < 0.5, "{begin} {}", kernels[0]);
    }
}

#[test]
fn inferno_draws_collapsed_stacks() {
    let (options, _) = Options::parse("--steps 2 --layers 3 --frames 8".split(' ').map(str::to_owned)).unwrap();
    let (bytes, _) = generate::generate(&options, Vec::new()).unwrap();
    let mut opened = open(&bytes).unwrap();
    let device = opened.summary.devices[0].clone();
    let peak = u32::try_from(device.peak_event + 1).unwrap();
    let question = question_at(&opened, peak);
    let (stacks, total) = written(&mut opened, device.device, &question);
    assert_eq!(i64::try_from(total.bytes).unwrap(), device.peak_requested);
    let text = String::from_utf8(stacks).unwrap();
    let (mut options, mut svg) = (inferno::flamegraph::Options::default(), Vec::new());
    options.count_name = "bytes".to_owned();
    inferno::flamegraph::from_lines(&mut options, text.lines(), &mut svg).unwrap();
    let svg = String::from_utf8(svg).unwrap();
    let whole: String = device.peak_requested.to_string();
    let found = svg.split("<title>all (").nth(1).and_then(|rest| rest.split(" bytes").next()).unwrap();
    assert_eq!(found.replace(',', ""), whole);
}
