//! Events, filters, curves, fragmentation and pools of real and generated files, compared with the brute-force
//! implementation in brute_force_events.py.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate;
use crate::opened;
use crate::reported;

use memscape::engine::{Answer, Ask, Question, Reply, Request, UNKNOWN_POOL};
use memscape::protocol::{
    Action, Cell, Curves, EventsFilter, EventsPage, EventsQuestion, MemoryFilter, Report, SheetRow, Tone, Topic,
};
use memscape::timeline::View;
use opened::{Opened, open, real_pickles};
use reported::{cell, number, sheet};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the script on a file. Returns `None`, with a note on stdout, if there is no Python.
fn python(path: &Path) -> Option<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/brute_force_events.py");
    let Ok(output) = Command::new("python3").arg("-B").arg(script).arg(path).arg("20261121").output() else {
        println!("SKIPPED: there is no python3 to ask for a second opinion");
        return None;
    };
    assert!(output.status.success(), "{path:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn page(opened: &mut Opened, device: i64, question: EventsQuestion) -> EventsPage {
    match opened.reply(Request::Ask(Ask { serial: 1, device, question: Question::Events(Box::new(question)) })) {
        Reply::Answer { answer: Answer::Events(page), .. } => *page,
        other => panic!("expected events, got {other:?}"),
    }
}

fn check_rows(name: &str, opened: &mut Opened, device: i64, expected: &Value) {
    for row in expected.as_array().unwrap() {
        let event = row["event"].as_u64().unwrap() as u32;
        let page = page(opened, device, EventsQuestion { rows: [event, 1], ..EventsQuestion::default() });
        let ours = &page.rows[0];
        let action = Action::ALL[usize::from(ours.action)].name();
        let actual = json!({
            "event": ours.event, "action": action, "time": ours.time_us, "size": ours.size, "version": ours.version,
            "address": ours.address, "stream": ours.stream, "pool": ours.pool, "active": ours.active,
            "pending": ours.awaiting_free, "reserved": ours.reserved,
        });
        assert_eq!(&actual, row, "{name}, device {device}, event {event}");
    }
}

fn check_filters(name: &str, opened: &mut Opened, device: i64, expected: &Value) {
    for filter in expected.as_array().unwrap() {
        let text = filter[0].as_str().unwrap().to_owned();
        let (mut count, mut sum) = (0u64, 0u64);
        loop {
            let filter = EventsFilter { text: text.clone(), ..EventsFilter::default() };
            let page =
                page(opened, device, EventsQuestion { filter, rows: [count as u32, 512], ..EventsQuestion::default() });
            count += page.rows.len() as u64;
            sum += page.rows.iter().map(|row| u64::from(row.event)).sum::<u64>();
            if page.rows.is_empty() {
                break;
            }
        }
        assert_eq!((json!(count), json!(sum)), (filter[1].clone(), filter[2].clone()), "{name}, {device}: {text}");
    }
}

fn curves(opened: &mut Opened, device: i64, moment: u64, only: MemoryFilter) -> Curves {
    let view = View { x_per_px: 1.0, left_px: moment as i64, ..View::fit(1, 1, 1, 1) };
    match opened.reply(Request::Ask(Ask {
        serial: 3,
        device,
        question: Question::Curves { view, only, with_stranded: false },
    })) {
        Reply::Answer { answer: Answer::Curves(curves), .. } => *curves,
        other => panic!("expected curves, got {other:?}"),
    }
}

fn report(opened: &mut Opened, device: i64, topic: Topic, at: Option<u32>) -> Report {
    reported::report_of(opened.reply(reported::report_request(device, topic, at, &[])))
}

/// Compares `[moment, reserved, active, rounded, free, pending]` at each moment.
fn check_moments(name: &str, opened: &mut Opened, device: i64, expected: &Value) {
    for (place, actual) in expected.as_array().unwrap().iter().enumerate() {
        let moment = actual[0].as_u64().unwrap();
        let of = curves(opened, device, moment, MemoryFilter::default());
        let ours = json!([moment, of.reserved[0], of.requested[0], of.rounded[0], of.free[0], of.awaiting_free[0]]);
        assert_eq!(&ours, actual, "{name}, device {device}");
        if place % 8 != 0 {
            continue;
        }
        // Sums of the segment state, if all blocks lie in recorded segments.
        let report = report(opened, device, Topic::Fragmentation, Some(moment as u32));
        let sheet = sheet(&report, "moment");
        if sheet.rows.is_empty() || report.statements.iter().any(|it| it.text.contains("outside the recorded segments"))
        {
            continue;
        }
        let total = |key: &str| {
            let place = sheet.columns.iter().position(|column| column.key == key).unwrap();
            match sheet.total[place] {
                Cell::Bytes(bytes) => json!(bytes),
                ref other => panic!("{other:?}"),
            }
        };
        let ours = ["reserved_bytes", "live_bytes", "allocated_rounded_bytes", "free_bytes"].map(total);
        assert_eq!(
            json!(ours),
            json!([actual[1], actual[2], actual[3], actual[4]]),
            "{name}, {device}, moment {moment}"
        );
    }
}

fn check_fragmentation(name: &str, opened: &mut Opened, device: i64, expected: &Value) {
    let report = report(opened, device, Topic::Fragmentation, None);
    let over_time = sheet(&report, "over_time");
    let row = |sheet: &memscape::protocol::Sheet, place: usize| {
        let row = &sheet.rows[place];
        let Cell::Event(event) = cell(sheet, row, "event") else { panic!("expected an event") };
        let of = |key| u64::try_from(number(sheet, row, key)).unwrap();
        json!([event, of("free_bytes"), of("reserved_bytes"), of("live_bytes")])
    };
    let parts: Vec<Value> = (0..over_time.rows.len()).map(|place| row(over_time, place)).collect();
    assert_eq!(&json!(parts), &expected["parts"], "{name}, device {device}");
    let worst = expected["parts"].as_array().unwrap().iter().map(|part| part[1].as_u64().unwrap()).max().unwrap();
    let bytes = sheet(&report, "worst_bytes");
    assert_eq!(
        bytes.rows.first().map(|row| number(bytes, row, "free_bytes")),
        (worst > 0).then_some(i128::from(worst))
    );
    let share = sheet(&report, "worst_share");
    if let (Some(expected), false) = (expected["worst_share"].as_array(), share.rows.is_empty()) {
        assert_eq!(json!([row(share, 0)[0], row(share, 0)[1]]), json!(expected), "{name}, {device}: largest share");
    }
}

/// Returns the number of pools that were compared.
fn check_pools(name: &str, opened: &mut Opened, device: i64, expected: &Value) -> usize {
    let moments = expected["moments"].as_array().unwrap();
    let at = moments[moments.len() / 2][0].as_u64().unwrap() as u32;
    let report = report(opened, device, Topic::Pools, Some(at));
    let sheet = sheet(&report, "pools");
    for (pool, actual) in expected["pools"].as_object().unwrap() {
        let pool: Option<(u64, u64)> = serde_json::from_str(pool).unwrap();
        let called = match pool {
            None => "not recorded".to_owned(),
            Some((0, 0)) => "default pool".to_owned(),
            Some((graph, 0)) => format!("graph-private pool ({graph}, 0)"),
            Some((0, own)) => format!("MemPool (0, {own})"),
            Some(pool) => format!("private pool {pool:?}"),
        };
        // Without a pool, if the file knows the pools of other segments.
        let is_unknown =
            |row: &&SheetRow| pool.is_none() && *cell(sheet, row, "pool") == Cell::Text(UNKNOWN_POOL.into());
        let row = sheet.rows.iter().find(|row| *cell(sheet, row, "pool") == Cell::Text(called.clone()));
        let row = row.or_else(|| sheet.rows.iter().find(is_unknown));
        let row = row.unwrap_or_else(|| panic!("{name}, device {device}: {called} is missing"));
        let then = actual[2 + moments.len() / 2].as_u64().unwrap();
        let ours = json!([number(sheet, row, "max_live_bytes") as u64, number(sheet, row, "live_bytes") as u64]);
        assert_eq!(ours, json!([actual[0], then]), "{name}, device {device}: {called}");
        let Cell::Event(event) = cell(sheet, row, "max_live_event") else { panic!("expected an event") };
        assert!(
            actual[0] == json!(0) || event + 1 == actual[1].as_i64().unwrap(),
            "{name}, {device}: {called} at {event}"
        );
    }
    let reserved: i128 = sheet.rows.iter().map(|row| number(sheet, row, "reserved_bytes")).sum();
    assert_eq!(json!(reserved as u64), moments[moments.len() / 2][1], "{name}, device {device}: reserved by pools");
    sheet.rows.len()
}

/// Returns the number of devices and pools that were compared.
fn check(path: &Path) -> [usize; 2] {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let Some(actual) = python(path) else { return [1, 1] };
    let mut opened = open(&std::fs::read(path).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let devices = opened.summary.devices.clone();
    assert_eq!(actual.as_array().unwrap().len(), devices.len(), "{name}");
    let mut compared = [0, 0];
    for (actual, summary) in actual.as_array().unwrap().iter().zip(&devices) {
        let device = summary.device;
        assert_eq!(actual["device"].as_i64(), Some(device), "{name}");
        // Other tests cover unexplained bytes.
        if summary.unexplained_requested > 0 {
            continue;
        }
        check_rows(&name, &mut opened, device, &actual["rows"]);
        check_filters(&name, &mut opened, device, &actual["filters"]);
        check_moments(&name, &mut opened, device, &actual["moments"]);
        check_fragmentation(&name, &mut opened, device, actual);
        compared = [compared[0] + 1, compared[1] + check_pools(&name, &mut opened, device, actual)];
    }
    compared
}

#[test]
fn events_of_real_files_match_python() {
    let Some(files) = real_pickles() else { return };
    let compared = files.iter().map(|path| check(path)[0]).sum::<usize>();
    assert!(compared > 20, "{compared} devices");
}

#[test]
fn events_of_generated_files_match_python() {
    let words = [
        "--steps 2 --layers 4 --expandable --pending",
        "--steps 2 --layers 4 --private-pools --pending",
        "--steps 3 --layers 4 --ring 900 --private-pools",
        "--steps 2 --layers 3 --host --pending",
        "--steps 2 --layers 3 --oom --leak --snapshots",
        "--steps 2 --layers 3 --devices 2 --expandable --private-pools --no-time",
    ];
    for (place, words) in words.iter().enumerate() {
        let (options, _) = generate::Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
        let (bytes, _) = generate::generate(&options, Vec::new()).unwrap();
        let path: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("events{place}.pickle"));
        std::fs::write(&path, bytes).unwrap();
        let [devices, pools] = check(&path);
        assert!(devices > 0 && (pools > 1 || !words.contains("private")), "{words}: {devices} devices, {pools} pools");
        let mut opened = open(&std::fs::read(&path).unwrap()).unwrap();
        for device in opened.summary.devices.clone() {
            let report = report(&mut opened, device.device, Topic::Settings, None);
            // A failed request gives hints.
            assert!(
                words.contains("--oom") || report.statements.iter().all(|it| it.tone != Tone::Alarm),
                "{words}: unexpected alarm in {:?}",
                report.statements
            );
        }
    }
}
