//! The report on steps with annotations that no program writes: out of order, unpaired, a million of them, or in a
//! trace without times.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::opened;

use cpu_time::ThreadTime;
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{Cell, Report, ReportQuestion, Sheet, Topic};
use opened::{Opened, open, reply};
use std::fmt::Write;
use std::time::Duration;

/// A JSON snapshot with allocations of 10, 20, 30… bytes at the times 100, 200, 300…. Each is freed 50 µs later, except
/// every third one.
fn snapshot(allocations: u64, has_times: bool, marks: &[(&str, String, i64)]) -> Vec<u8> {
    let mut text = r#"{"segments": [], "device_traces": [["#.to_owned();
    for number in 1..=allocations {
        let mut event = |action: &str, time: u64| {
            let (address, size) = (number * 4096, number * 10);
            let time = if has_times { format!(r#", "time_us": {time}"#) } else { String::new() };
            write!(text, r#"{{"action": "{action}", "addr": {address}, "size": {size}, "stream": 0{time}}},"#).unwrap();
        };
        event("alloc", number * 100);
        if number % 3 > 0 {
            event("free_completed", number * 100 + 50);
        }
    }
    text.pop();
    text.push_str(r#"]], "external_annotations": ["#);
    for (stage, name, time) in marks {
        write!(text, r#"{{"stage": "{stage}", "name": "{name}", "device": 0, "time_us": {time}}},"#).unwrap();
    }
    if !marks.is_empty() {
        text.pop();
    }
    text.push_str("]}");
    text.into_bytes()
}

fn report_request(rows: u32) -> Request {
    let question =
        ReportQuestion { topic: Topic::Steps, at: None, thresholds: Vec::new(), rows, ..ReportQuestion::default() };
    Request::Ask(Ask { serial: 7, device: 0, question: Question::Report(question) })
}

fn report(opened: &mut Opened, rows: u32) -> Report {
    match opened.reply(report_request(rows)) {
        Reply::Answer { answer: Answer::Report(report), .. } => *report,
        other => panic!("expected a report, got {other:?}"),
    }
}

fn sheet<'a>(report: &'a Report, key: &str) -> &'a Sheet {
    report.sheets.iter().find(|sheet| sheet.key == key).unwrap()
}

/// Rows of a sheet as text, without their evidence.
fn rows(report: &Report, key: &str) -> Vec<(u32, String)> {
    let cell = |cell: &Cell| match cell {
        Cell::Empty => "-".to_owned(),
        Cell::Text(text) => text.clone(),
        Cell::Bytes(number) | Cell::Count(number) | Cell::Micros(number) => number.to_string(),
        Cell::Event(number) | Cell::Change(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    let rows = sheet(report, key).rows.iter();
    rows.map(|row| (row.depth, row.cells.iter().map(cell).collect::<Vec<_>>().join(" "))).collect()
}

fn mark(stage: &'static str, name: &str, time: i64) -> (&'static str, String, i64) {
    (stage, name.to_owned(), time)
}

#[test]
fn unordered_and_unpaired_annotations_are_reported() {
    let marks = [
        mark("END", "nobody", 120),
        mark("START", "late", 290),
        mark("START", "early", 150),
        mark("END", "early", 300),
        mark("START", "backwards", 400),
        mark("END", "backwards", 100),
        mark("START", "before", -5),
        mark("END", "before", 99),
        mark("START", "after", i64::MAX - 1),
    ];
    let mut opened = open(&snapshot(5, true, &marks)).unwrap();
    let report = report(&mut opened, 100);
    // Events: alloc 10, free, alloc 20, free, alloc 30, alloc 40, free, alloc 50, free. Columns: name, first and last
    // event, live at start and end, peak, peak event, allocated, freed, kept, µs.
    let expected = [
        (0, "early 1 4 10 30 30 4 50 30 30 150"),
        (1, "late (no end) 4 8 0 30 80 7 120 90 30 260"),
        (2, "backwards 5 5 30 70 70 5 40 0 40 0"),
    ];
    assert_eq!(rows(&report, "occurrences"), expected.map(|(depth, row)| (depth, row.to_owned())));
    let statements: Vec<&str> = report.statements.iter().map(|statement| statement.text.as_str()).collect();
    assert!(
        statements.iter().any(|text| text.starts_with("2 annotations outside the recorded events")),
        "{statements:?}"
    );
    assert!(statements.iter().any(|text| text.starts_with("1 annotation without an end")), "{statements:?}");
    let sliced = match reply(&mut opened.engine, report_request(100)) {
        Reply::Answer { answer: Answer::Report(report), .. } => *report,
        other => panic!("{other:?}"),
    };
    assert_eq!(sliced, report);
}

#[test]
fn annotations_are_ignored_with_note_if_events_have_no_times() {
    let marks = [mark("START", "step_1", 150), mark("END", "step_1", 300)];
    let mut opened = open(&snapshot(5, false, &marks)).unwrap();
    let report = report(&mut opened, 100);
    assert_eq!((rows(&report, "occurrences").len(), rows(&report, "steps").len()), (0, 0));
    let statements: Vec<&str> = report.statements.iter().map(|statement| statement.text.as_str()).collect();
    assert!(statements.iter().any(|text| text.starts_with("1 annotation cannot be placed")), "{statements:?}");
    assert_eq!(rows(&report, "mosaic").iter().filter(|(_, row)| row.starts_with("stage")).count(), 0);
}

/// Longest accepted slice, in processor time. Most take 8 ms; the one that writes the report takes 40 ms for 300,000
/// names in a build with few optimizations.
const SLICE: Duration = Duration::from_millis(160);

#[test]
fn time_slices_stay_short_with_million_annotations() {
    let nested = |number: i64| mark("START", "deep", number / 1000);
    let apart = |number: i64| {
        [mark("START", &format!("step_{number}"), number), mark("END", &format!("step_{number}"), number)]
    };
    let kinds: [(Vec<_>, usize); 2] =
        [((0..1_000_000).map(nested).collect(), 0), ((0..300_000).flat_map(apart).collect(), 100)];
    for (marks, steps) in kinds {
        let longest = longest_slice(&marks, steps);
        assert!(longest < SLICE, "{longest:?}");
    }
}

fn longest_slice(marks: &[(&str, String, i64)], steps: usize) -> Duration {
    let mut opened = open(&snapshot(3000, true, marks)).unwrap();
    let started = ThreadTime::now();
    opened.engine.request(report_request(100));
    let mut longest = Duration::ZERO;
    let report = loop {
        if let Some(Reply::Answer { answer: Answer::Report(report), .. }) = opened.engine.next_reply() {
            break report;
        }
        let started_at = ThreadTime::now();
        opened.engine.step(&mut || started_at.elapsed() < Duration::from_millis(8));
        longest = longest.max(started_at.elapsed());
    };
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    println!("{} marks: {:?}, longest slice {longest:?}", marks.len(), started.elapsed());
    let occurrences = sheet(&report, "occurrences");
    assert_eq!(occurrences.rows.len(), 100);
    assert!(occurrences.left_out > 200_000 && occurrences.rows.iter().all(|row| row.depth <= 64));
    assert_eq!(sheet(&report, "steps").rows.len(), steps);
    longest
}

/// Mosaic ends an allocation only at its completed free. All of its figures use that rule, also in a file with free
/// requests only.
#[test]
fn mosaic_figures_use_completed_frees() {
    let marks = [("START", "a".to_owned(), 150), ("END", "a".to_owned(), 250), ("START", "a".to_owned(), 999)];
    let text = String::from_utf8(snapshot(3, true, &marks)).unwrap().replace("free_completed", "free_requested");
    let mosaic: Vec<String> =
        rows(&report(&mut open(text.as_bytes()).unwrap(), 99), "mosaic").into_iter().map(|row| row.1).collect();
    let of = |what: &str| mosaic.iter().filter(|row| row.contains(what)).map(String::as_str).collect::<Vec<_>>();
    for (what, bytes) in [("dynamic peak", "60"), ("a_START", "10"), ("a_END", "30"), ("a_START(1)", "60")] {
        assert!(of(what).iter().any(|row| row.contains(bytes)), "{what}: {bytes} in {mosaic:#?}");
    }
}
