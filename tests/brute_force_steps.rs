//! Steps and modules of real and generated files, compared with the brute-force implementation in brute_force_steps.py.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate;
use crate::opened;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{Cell, Report, ReportQuestion, Sheet, SheetRow, Topic};
use opened::{Opened, open, real_pickles};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

#[test]
fn steps_and_modules_match_python() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no python3 to ask for a second opinion");
        return;
    }
    let mut files = real_pickles().unwrap_or_default();
    for (number, words) in [
        "--events 3000 --layers 3 --prerecord-mib 64 --compile-contexts --layer-annotations --leak --pending",
        "--events 4000 --ring 2500 --layers 4 --prerecord-mib 64 --compile-contexts --oom --style cpp",
        "--steps 9 --layers 2 --hidden 128 --record-from-start --no-annotations --expandable",
        "--events 2500 --layers 3 --devices 2 --no-time --prerecord-mib 64",
    ]
    .into_iter()
    .enumerate()
    {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let (options, _) = generate::Options::parse(words.into_iter()).unwrap();
        let (bytes, _) = generate::generate(&options, Vec::new()).unwrap();
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stages-{number}.pickle"));
        std::fs::write(&path, bytes).unwrap();
        files.push(path);
    }
    let (one, other) = files.split_at(files.len() / 2);
    let rows = std::thread::scope(|scope| {
        let beside = scope.spawn(|| one.iter().map(|path| check_file(path)).sum::<usize>());
        other.iter().map(|path| check_file(path)).sum::<usize>() + beside.join().unwrap()
    });
    assert!(rows > 400, "{rows} rows were compared");
}

/// Returns the number of rows that were compared.
fn check_file(path: &Path) -> usize {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/brute_force_steps.py");
    let output = Command::new("python3").arg(script).arg(path).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let devices: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut opened = open(&std::fs::read(path).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut rows = 0;
    for expected in devices.as_array().unwrap() {
        let device = expected["device"].as_i64().unwrap();
        let place = format!("{name}, device {device}");
        let stages = report(&mut opened, Topic::Steps, device);
        rows += check_annotations(&place, &stages, expected);
        rows += check_mosaic(&place, &stages, &expected["mosaic"]);
        rows += check_modules(&place, &report(&mut opened, Topic::Modules, device), &expected["layers"]);
    }
    rows
}

fn report(opened: &mut Opened, topic: Topic, device: i64) -> Report {
    let question =
        ReportQuestion { topic, at: None, thresholds: Vec::new(), rows: 100_000, ..ReportQuestion::default() };
    match opened.reply(Request::Ask(Ask { serial: 1, device, question: Question::Report(question) })) {
        Reply::Answer { answer: Answer::Report(report), .. } => *report,
        other => panic!("expected a report, got {other:?}"),
    }
}

fn sheet<'a>(report: &'a Report, key: &str) -> &'a Sheet {
    report.sheets.iter().find(|sheet| sheet.key == key).unwrap()
}

fn cell<'a>(sheet: &Sheet, row: &'a SheetRow, key: &str) -> &'a Cell {
    &row.cells[sheet.columns.iter().position(|column| column.key == key).unwrap()]
}

/// Returns a number of a row, or −2 if the cell is empty.
fn number(sheet: &Sheet, row: &SheetRow, key: &str) -> i64 {
    match cell(sheet, row, key) {
        Cell::Bytes(number) | Cell::Count(number) | Cell::Micros(number) => i64::try_from(*number).unwrap(),
        Cell::Event(event) => *event,
        Cell::Empty => -2,
        other => panic!("{key} is {other:?}"),
    }
}

fn text(sheet: &Sheet, row: &SheetRow, key: &str) -> String {
    let Cell::Text(text) = cell(sheet, row, key) else { panic!("{key} is not a text") };
    text.clone()
}

const SPAN_COLUMNS: [[&str; 2]; 7] = [
    ["start_live_bytes", "start"],
    ["end_live_bytes", "end"],
    ["peak_live_bytes", "peak"],
    ["peak_event", "peak_event"],
    ["requested_bytes", "allocated"],
    ["freed_bytes", "freed"],
    ["kept_bytes", "kept"],
];

fn check_span(place: &str, sheet: &Sheet, row: &SheetRow, expected: &Value) {
    for [ours, theirs] in SPAN_COLUMNS {
        assert_eq!(number(sheet, row, ours), expected[theirs].as_i64().unwrap(), "{place}: {ours} of {row:?}");
    }
    let [from, to] = ["from", "to"].map(|key| expected[key].as_u64().unwrap() as u32);
    let span = row.evidence.as_ref().and_then(|evidence| evidence.span).unwrap();
    assert_eq!([span.from, span.to], [from, to], "{place}: {row:?}");
}

fn check_annotations(place: &str, report: &Report, expected: &Value) -> usize {
    let (occurrences, stages) = (sheet(report, "occurrences"), expected["stages"].as_array().unwrap());
    assert_eq!(occurrences.rows.len(), stages.len(), "{place}: annotations");
    // Sums by name, computed here.
    let mut sums: BTreeMap<String, [i64; 6]> = BTreeMap::new();
    for (row, expected) in occurrences.rows.iter().zip(stages) {
        let name = expected["name"].as_str().unwrap();
        let shown = if expected["ended"] == true { name.to_owned() } else { format!("{name} (no end)") };
        assert_eq!(text(occurrences, row, "name"), shown, "{place}");
        assert_eq!(number(occurrences, row, "duration_us"), expected["micros"].as_i64().unwrap(), "{place}");
        check_span(place, occurrences, row, expected);
        let of = |key: &str| expected[key].as_i64().unwrap();
        let sum = sums.entry(name.to_owned()).or_default();
        let peak = sum[2].max(of("peak"));
        *sum = [
            sum[0] + 1,
            sum[1] + of("micros"),
            peak,
            sum[3] + of("allocated"),
            sum[4] + of("freed"),
            sum[5] + of("kept"),
        ];
    }
    let names = sheet(report, "annotations");
    let found = names.rows.iter().map(|row| {
        let keys = ["count", "duration_us", "peak_live_bytes", "requested_bytes", "freed_bytes", "kept_bytes"];
        (text(names, row, "name"), keys.map(|key| number(names, row, key)))
    });
    assert_eq!(found.collect::<BTreeMap<_, _>>(), sums, "{place}: names");
    let (steps, expected_steps) = (sheet(report, "steps"), expected["steps"].as_array().unwrap());
    assert_eq!(steps.rows.len(), expected_steps.len(), "{place}: steps, {:?}", report.statements);
    for (row, expected) in steps.rows.iter().zip(expected_steps) {
        check_span(place, steps, row, expected);
        assert_eq!(number(steps, row, "never_freed_bytes"), expected["never_freed"].as_i64().unwrap(), "{place}");
    }
    let contexts = sheet(report, "compile_contexts");
    let found = contexts.rows.iter().map(|row| {
        let keys = ["peak_live_bytes", "own_peak_live_bytes", "requested_bytes", "allocations"];
        (text(contexts, row, "name"), keys.map(|key| number(contexts, row, key)).to_vec())
    });
    let expected: BTreeMap<String, Vec<i64>> = serde_json::from_value(expected["regions"].clone()).unwrap();
    assert_eq!(found.collect::<BTreeMap<_, _>>(), expected, "{place}: compiled regions");
    stages.len() + sums.len() + expected_steps.len() + expected.len()
}

fn check_mosaic(place: &str, report: &Report, expected: &Value) -> usize {
    let mosaic = sheet(report, "mosaic");
    let of = |what: &str| {
        let rows = mosaic.rows.iter().filter(|row| text(mosaic, row, "what") == what);
        rows.map(|row| (text(mosaic, row, "name"), number(mosaic, row, "live_bytes"))).collect::<Vec<_>>()
    };
    assert_eq!(of("dynamic peak"), [(String::new(), expected["peak"].as_i64().unwrap())], "{place}");
    for (what, key) in [("compile_context at the peak", "contexts"), ("annotation at the peak", "annotations")] {
        let expected: BTreeMap<String, i64> = serde_json::from_value(expected[key].clone()).unwrap();
        let mut found: BTreeMap<String, i64> = of(what).into_iter().collect();
        found.retain(|_, &mut bytes| bytes > 0);
        assert_eq!(found, expected, "{place}: {what}");
    }
    let stages: Vec<(String, i64)> = serde_json::from_value(expected["stages"].clone()).unwrap();
    assert_eq!(of("stage"), stages, "{place}");
    stages.len() + 1
}

fn check_modules(place: &str, report: &Report, expected: &Value) -> usize {
    let layers = sheet(report, "modules");
    let keys = [
        "events",
        "allocations",
        "requested_bytes",
        "frees",
        "freed_bytes",
        "peak_live_bytes",
        "peak_reserved_bytes",
        "live_bytes_at_peak",
    ];
    // Modules without events have no peaks.
    let none_is_zero = |number: i64| if number == -2 { 0 } else { number };
    let found = layers.rows.iter().map(|row| {
        let calls: Vec<String> = row.stack.iter().rev().cloned().collect();
        let Cell::Text(_) = cell(layers, row, "module") else { panic!("{place}: no name") };
        let waste = match cell(layers, row, "mean_fragmentation") {
            Cell::Ratio(ratio) => (ratio * 1e6).round() as i64,
            _ => 0,
        };
        (calls, keys.map(|key| none_is_zero(number(layers, row, key))), waste)
    });
    let mut found: Vec<_> = found.collect();
    let expected = expected.as_array().unwrap().iter().map(|layer| {
        let calls = layer["calls"].as_array().unwrap().iter().filter(|call| !call.is_null());
        let calls = calls.map(|call| {
            let line = call[1].as_i64().unwrap();
            let line = if line == 0 { String::new() } else { format!(":{line}") };
            format!("{}{line} {}", call[0].as_str().unwrap(), call[2].as_str().unwrap())
        });
        let of = |key: &str| layer[key].as_i64().unwrap();
        let keys = ["events", "allocations", "allocated", "frees", "freed", "peak", "reserved", "live"];
        let mean = layer["waste"].as_f64().unwrap() / of("events").max(1) as f64;
        (calls.collect::<Vec<String>>(), keys.map(of), (mean * 1e6).round() as i64)
    });
    let mut expected: Vec<_> = expected.collect();
    found.sort();
    expected.sort();
    assert_eq!(found.len(), expected.len(), "{place}: modules");
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected, "{place}: modules");
    }
    found.len()
}
