//! Categories of real files, compared with the brute-force implementation in brute_force_category.py: totals at the
//! peak and at random moments, bytes by rule, the maximum of each category, and Mosaic's counts, for both built-in
//! sets.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::opened;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{CategorySet, Cell, Report, ReportQuestion, SheetRow, Topic};
use memscape::units::Moment;
use opened::{Opened, open, real_pickles};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const SEED: &str = "20261121";

/// Bytes and count by name.
type Totals = BTreeMap<String, (u64, u64)>;

#[test]
fn categories_match_python() {
    let Some(files) = real_pickles() else { return };
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no python3 to ask for a second opinion");
        return;
    }
    // Python dominates the run time and is single-threaded.
    let (one, other) = files.split_at(files.len() / 2);
    let check = |files: &[PathBuf]| files.iter().map(|path| check_file(path)).sum::<usize>();
    let totals = std::thread::scope(|scope| {
        let beside = scope.spawn(|| check(one));
        check(other) + beside.join().unwrap()
    });
    assert!(totals > 1_000, "{totals} totals were compared");
}

fn check_file(path: &Path) -> usize {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sets = ["default", "mosaic"].map(|set| root.join(format!("src/analysis/category/{set}.json")));
    let script = root.join("tests/brute_force_category.py");
    let output = Command::new("python3").arg(script).arg(path).arg(SEED).args(sets).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let devices: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut opened = open(&std::fs::read(path).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut compared = 0;
    for expected in devices.as_array().unwrap() {
        for set in ["default", "mosaic"] {
            opened.engine.request(Request::Categories(Box::new(CategorySet::built_in_by_name(set).unwrap())));
            compared += check_set(&format!("{name} by {set}"), &mut opened, expected, &expected["sets"][set]);
        }
    }
    compared
}

fn check_set(name: &str, opened: &mut Opened, device: &Value, expected: &Value) -> usize {
    let number = device["device"].as_i64().unwrap();
    let mut compared = 0;
    for moment in expected["moments"].as_array().unwrap() {
        let at = moment[0].as_u64().unwrap() as u32;
        let report = report(opened, number, at);
        let reported = totals(&report, "categories", [0, 4, 5]);
        assert_eq!(reported, as_totals(&moment[1]), "{name}, device {number}: at moment {at}");
        compared += reported.len();
    }
    let report = report(opened, number, 0);
    assert_eq!(totals(&report, "categories", [0, 1, 3]), as_totals(&expected["peak"]), "{name}: at the peak");
    let mut rules = as_totals(&expected["rules"]);
    // Python writes rule 0 for allocations that no rule matched.
    rules.extend(rules.clone().remove("0").map(|it| (String::new(), it)));
    rules.remove("0");
    assert_eq!(totals(&report, "rules", [0, 3, 5]), rules, "{name}: rules");
    for row in rows(&report, "categories") {
        let (category, most) = (text(&row.cells[0]), (&row.cells[6], &row.cells[7]));
        let Some(best) = expected["most"].get(&category) else {
            assert_eq!(*most.0, Cell::Bytes(0), "{name}: the most of {category}");
            continue;
        };
        let moment = Moment(best[1].as_u64().unwrap() as u32);
        let reported = (Cell::Bytes(best[0].as_u64().unwrap()), Cell::Event(moment.event_or_minus_one()));
        assert_eq!(most, (&reported.0, &reported.1), "{name}: the most of {category}");
        compared += 1;
    }
    let mosaic = &expected["mosaic"];
    assert_eq!(mosaic.is_null(), !report.sheets.iter().any(|sheet| sheet.key == "mosaic"), "{name}");
    if !mosaic.is_null() {
        let reported: BTreeMap<String, u64> =
            rows(&report, "mosaic").iter().map(|row| (text(&row.cells[0]), number_of(&row.cells[1]))).collect();
        let theirs = mosaic["categories"].as_object().unwrap();
        let theirs: BTreeMap<String, u64> =
            theirs.iter().map(|(name, it)| (name.clone(), it.as_u64().unwrap())).collect();
        assert_eq!(reported, theirs, "{name}: as Mosaic counts");
        let sheet = report.sheets.iter().find(|sheet| sheet.key == "mosaic").unwrap();
        assert_eq!(sheet.total[1], Cell::Bytes(mosaic["requested"].as_u64().unwrap()), "{name}: Mosaic's peak");
        compared += reported.len();
    }
    compared
}

fn report(opened: &mut Opened, device: i64, at: u32) -> Report {
    let question = ReportQuestion { topic: Topic::Categories, at: Some(at), rows: 5000, ..ReportQuestion::default() };
    match opened.reply(Request::Ask(Ask { serial: 1, device, question: Question::Report(question) })) {
        Reply::Answer { answer: Answer::Report(report), .. } => *report,
        other => panic!("expected a report, got {other:?}"),
    }
}

fn rows<'a>(report: &'a Report, key: &str) -> &'a [SheetRow] {
    &report.sheets.iter().find(|sheet| sheet.key == key).unwrap().rows
}

/// Returns bytes and count of each row with a nonzero count, keyed by the text in column `name`. Leaves out unexplained
/// bytes.
fn totals(report: &Report, key: &str, [name, bytes, count]: [usize; 3]) -> Totals {
    let all = rows(report, key).iter().filter(|row| text(&row.cells[0]) != "unexplained");
    let all = all.map(|row| (text(&row.cells[name]), (number_of(&row.cells[bytes]), number_of(&row.cells[count]))));
    all.filter(|(_, (_, count))| *count > 0).collect()
}

fn as_totals(value: &Value) -> Totals {
    let number = |value: &Value| value.as_u64().unwrap();
    value.as_object().unwrap().iter().map(|(name, it)| (name.clone(), (number(&it[0]), number(&it[1])))).collect()
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Count(number) => number.to_string(),
        Cell::Empty => String::new(),
        other => panic!("expected a name, got {other:?}"),
    }
}

fn number_of(cell: &Cell) -> u64 {
    match cell {
        Cell::Bytes(number) | Cell::Count(number) => *number,
        other => panic!("expected a number, got {other:?}"),
    }
}
