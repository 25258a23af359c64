//! Leaks & waste, the peak and OOMs of real and generated files, compared with the brute-force implementation in
//! brute_force_leaks.py.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate;
use crate::opened;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{Cell, Report, ReportQuestion, Sheet, Topic};
use opened::{Opened, open, real_pickles};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Low thresholds, so that the sheets have many rows.
const THRESHOLDS: [(&str, u64); 8] = [
    ("alive", 1),
    ("late", 1),
    ("within", 5),
    ("lost", 1),
    ("unused", 1),
    ("steps", 1),
    ("recent", 700),
    ("large", 1000),
];

/// Columns of each sheet that the script prints, in its order.
const SHEETS: [(Topic, &str, &[&str]); 9] = [
    (Topic::Leaks, "alive", &["live_bytes", "count", "first_allocated_at", "last_allocated_at", "call_site"]),
    (
        Topic::Leaks,
        "late",
        &["waited_events", "waited_us", "requested_bytes", "free_requested_at", "free_completed_at", "call_site"],
    ),
    (Topic::Leaks, "brief", &["requested_bytes", "count", "largest_bytes", "call_site"]),
    (
        Topic::Leaks,
        "rounding",
        &["lost_bytes", "count", "requested_bytes_each", "allocated_rounded_bytes_each", "recorded", "call_site"],
    ),
    (Topic::Leaks, "cached", &["free_bytes", "reserved_bytes", "largest_free_bytes", "live_blocks"]),
    (
        Topic::Leaks,
        "grows",
        &["growth_bytes", "growth_bytes_per_step", "rises", "steps", "live_bytes", "count", "new_count", "call_site"],
    ),
    (Topic::Peak, "live", &["live_bytes", "count", "call_site"]),
    (Topic::Peak, "recent", &["live_bytes", "count", "call_site"]),
    (Topic::Peak, "oldest", &["requested_bytes", "allocated_at", "age_events", "freed_at", "call_site"]),
];

fn has_python() -> bool {
    let has = Command::new("python3").arg("--version").output().is_ok();
    if !has {
        println!("SKIPPED: there is no python3 to ask for a second opinion");
    }
    has
}

fn python(arguments: &[&str]) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/brute_force_leaks.py");
    let output = Command::new("python3").arg("-B").arg(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn generated(name: &str, words: &str) -> PathBuf {
    let (options, _) = generate::Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
    let (bytes, _) = generate::generate(&options, Vec::new()).unwrap();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn report(opened: &mut Opened, device: i64, topic: Topic, thresholds: &[(&str, u64)]) -> Report {
    let thresholds = thresholds.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect();
    let question = ReportQuestion { topic, at: None, thresholds, rows: 100_000, ..ReportQuestion::default() };
    match opened.reply(Request::Ask(Ask { serial: 1, device, question: Question::Report(question) })) {
        Reply::Answer { answer: Answer::Report(report), .. } => *report,
        other => panic!("expected a report, got {other:?}"),
    }
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Empty => Value::Null,
        Cell::Text(text) => json!(text),
        Cell::Bytes(number) | Cell::Count(number) | Cell::Micros(number) => json!(number),
        Cell::Change(number) | Cell::Event(number) => json!(number),
        Cell::Share { part, whole } => json!([part, whole]),
        Cell::Ratio(ratio) => json!(ratio),
    }
}

/// Returns the rows of a sheet as the script writes them. They are sorted, since rows of equal weight have no fixed
/// order.
fn rows(sheet: &Sheet, columns: &[&str]) -> Vec<String> {
    let place = |key: &&str| sheet.columns.iter().position(|column| column.key == **key).unwrap();
    let places: Vec<usize> = columns.iter().map(place).collect();
    let row = |cells: &Vec<Cell>| Value::Array(places.iter().map(|&place| value(&cells[place])).collect()).to_string();
    let mut rows: Vec<String> = sheet.rows.iter().map(|row_of| row(&row_of.cells)).collect();
    rows.sort();
    rows
}

/// Returns the number of rows that were compared.
fn check(path: &Path) -> usize {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let mut opened = open(&std::fs::read(path).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let devices: Vec<i64> = opened.summary.devices.iter().map(|device| device.device).collect();
    let mut steps = Map::new();
    for &device in &devices {
        let stages = report(&mut opened, device, Topic::Steps, &[]);
        let spans = stages.sheets.iter().filter(|sheet| sheet.key == "steps").flat_map(|sheet| &sheet.rows);
        let spans = spans.filter_map(|row| row.evidence.as_ref()?.span).map(|span| json!([span.from, span.to]));
        steps.insert(device.to_string(), spans.collect());
    }
    let thresholds: Map<String, Value> =
        THRESHOLDS.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
    let path = path.to_str().unwrap();
    let sheets = python(&["sheets", path, &Value::Object(thresholds).to_string(), &Value::Object(steps).to_string()]);
    let theirs: Vec<i64> = sheets.as_array().unwrap().iter().map(|it| it["device"].as_i64().unwrap()).collect();
    assert_eq!(devices, theirs, "{name}: devices");
    let mut compared = 0;
    for expected in sheets.as_array().unwrap() {
        let device = expected["device"].as_i64().unwrap();
        let reports = [Topic::Leaks, Topic::Peak].map(|topic| report(&mut opened, device, topic, &THRESHOLDS));
        for (topic, key, columns) in SHEETS {
            let report = reports.iter().find(|report| report.topic == topic).unwrap();
            let sheet = report.sheets.iter().find(|sheet| sheet.key == key).unwrap();
            let theirs = expected["sheets"][key].as_array().unwrap();
            let mut theirs: Vec<String> = theirs.iter().map(Value::to_string).collect();
            theirs.sort();
            let ours = rows(sheet, columns);
            let differ = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs);
            assert_eq!((differ, ours.len()), (None, theirs.len()), "{name}, device {device}: {key}");
            compared += ours.len();
            check_order(&format!("{name}: {key}"), sheet);
        }
    }
    compared
}

/// Checks that a sheet is sorted by weight, unless it has an order of its own, and that no rows are left out.
fn check_order(place: &str, sheet: &Sheet) {
    let weights: Vec<u64> = sheet
        .rows
        .iter()
        .map(|row| match row.cells[0] {
            Cell::Bytes(bytes) | Cell::Count(bytes) => bytes,
            Cell::Change(bytes) => bytes.unsigned_abs(),
            ref other => panic!("{place}: {other:?}"),
        })
        .collect();
    let is_sorted = weights.is_sorted_by(|a, b| a >= b);
    assert!(is_sorted || matches!(sheet.key.as_str(), "cached" | "grows" | "oldest"), "{place}: {weights:?}");
    assert_eq!(sheet.left_out, 0, "{place}");
}

#[test]
fn leaks_of_real_files_match_python() {
    let Some(files) = real_pickles() else { return };
    if !has_python() {
        return;
    }
    let (one, other) = files.split_at(files.len() / 2);
    let check_all = |files: &[PathBuf]| files.iter().map(|path| check(path)).sum::<usize>();
    let rows = std::thread::scope(|scope| {
        let beside = scope.spawn(|| check_all(one));
        check_all(other) + beside.join().unwrap()
    });
    assert!(rows > 5_000, "{rows} rows were compared");
}

#[test]
fn leaks_of_generated_files_match_python() {
    if !has_python() {
        return;
    }
    for (name, words) in [
        ("leaks-leak.pickle", "--steps 6 --leak --layers 4"),
        ("leaks-pending.pickle", "--events 6000 --pending --ring 4000 --layers 4 --leak"),
        ("leaks-oom.pickle", "--steps 3 --oom --expandable --private-pools --layers 4 --devices 2"),
    ] {
        let rows = check(&generated(name, words));
        assert!(rows > 100, "{name}: {rows} rows were compared");
    }
}

/// The free memory at a failed request in mid-trace equals the free memory at the end of a trace that stops there.
#[test]
fn free_memory_at_oom_equals_free_memory_at_end_of_trace_cut_there() {
    if !has_python() {
        return;
    }
    let mut compared = 0;
    for (number, words) in [
        "",
        "--expandable",
        "--expandable --pending",
        "--private-pools --leak",
        "--private-pools --expandable --seed 3",
    ]
    .into_iter()
    .enumerate()
    {
        for events in [700, 3000, 6100] {
            let words = format!("--layers 3 --hidden 512 {words}");
            let short = generated(&format!("short-{number}.pickle"), &format!("--events {events} {words}"));
            let long = generated(&format!("long-{number}.pickle"), &format!("--events 12000 {words}"));
            let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("refused-{number}.pickle"));
            let paths = [&short, &long, &out].map(|path| path.to_str().unwrap());
            let expected = python(&[&["refuse"][..], &paths].concat());
            let mut opened = open(&std::fs::read(&out).unwrap()).unwrap();
            let sheets = report(&mut opened, 0, Topic::OutOfMemory, &[]);
            let requests = sheets.sheets.iter().find(|sheet| sheet.key == "requests").unwrap();
            assert_eq!(rows(requests, &["event"]), [json!([expected["event"]]).to_string()]);
            let room = sheets.sheets.iter().find(|sheet| sheet.key == "room").unwrap();
            let columns = [
                "largest_free_bytes",
                "free_bytes",
                "free_blocks",
                "reserved_bytes",
                "empty_segments",
                "empty_segment_bytes",
            ];
            let mut ours: Vec<[u64; 6]> =
                rows(room, &columns).iter().map(|row| serde_json::from_str(row).unwrap()).collect();
            let [mut least, mut most]: [Vec<[u64; 6]>; 2] = serde_json::from_value(expected["rooms"].clone()).unwrap();
            // Sorts the pools by their reserved bytes, which differ.
            for rooms in [&mut ours, &mut least, &mut most] {
                rooms.sort_by_key(|room| [room[3], room[5]]);
            }
            assert_eq!(ours.len(), least.len(), "{words}, {events} events");
            for (ours, (least, most)) in ours.iter().zip(least.iter().zip(&most)) {
                assert_eq!(ours[3..], least[3..], "{words}, {events} events: reserved");
                let is_between = (0..3).all(|at| (least[at]..=most[at]).contains(&ours[at]));
                assert!(is_between, "{words}, {events} events: {least:?} {ours:?} {most:?}");
                compared += usize::from(least == most);
            }
        }
    }
    assert!(compared > 10, "{compared} pools were known to the byte");
}
