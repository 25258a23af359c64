//! Sentences about files as people have them: every case of `../shared/cases` by its sentence, and the files
//! that made_cases.py writes with Python's own picklers and archives, by their numbers and sentences.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::cases::folder;
use crate::opened;
use crate::reported;

use memscape::protocol::Topic;
use opened::{Opened, open};
use reported::{report, sheet, text};
use serde_json::{Map, Value};
use std::path::Path;
use std::process::Command;

/// Statements of a report on a device, with what to do. The topic `*` stands for all reports.
fn statements(opened: &mut Opened, device: i64, topic: &str) -> Vec<String> {
    let topics: Vec<Topic> = Topic::ALL.iter().copied().filter(|it| topic == "*" || it.name() == topic).collect();
    assert!(!topics.is_empty(), "{topic}");
    let mut texts = Vec::new();
    for topic in topics {
        let statements = report(opened, device, topic, &[]).statements;
        texts.extend(statements.into_iter().map(|it| [it.text, " ".to_owned(), it.fix].concat()));
    }
    texts
}

/// Returns why a report lacks a statement with `part`, if it does.
fn missing(opened: &mut Opened, device: i64, topic: &str, part: &str) -> Option<String> {
    let texts = statements(opened, device, topic);
    (!texts.iter().any(|text| text.contains(part))).then(|| format!("{topic} does not say {part:?}: {texts:#?}"))
}

#[test]
fn reports_on_shared_cases_say_what_is_expected() {
    let Some(folder) = folder() else { return };
    let mut failures = Vec::new();
    for (name, topic, part) in [
        ("recorded-with-context-none.pickle", "leaks", "Recorded without call stacks (context=None)"),
        ("recorded-with-context-none.pickle", "savings", "Recorded without call stacks (context=None)"),
        ("flat-script-loop.pickle", "leaks", "grew 2.00 MiB in each of the 20 steps, none freed: 40.0 MiB in all"),
        ("flat-script-loop.pickle", "leaks", "train.py:3 clone (called at train.py:13 <module>)"),
        ("main-function-loop.pickle", "leaks", "grew 2.00 MiB in each of the 20 steps, none freed: 40.0 MiB in all"),
        ("loss-history-leak.pickle", "leaks", "train.py:41"),
        ("loss-history-leak.pickle", "leaks", "grew 2.00 MiB in each of the 20 steps, none freed: 40.0 MiB in all"),
        (
            "oom-while-a-fitting-free-was-pending.pickle",
            "oom",
            "128 MiB awaited their free on stream 0 and would have fitted; the same request succeeded at event 6.",
        ),
        ("pending-frees-at-end.pickle", "leaks", "64.0 MiB await their free at the end"),
        ("recording-never-enabled.pickle", "leaks", "recording was not enabled"),
        ("user-defined-actions-2.4.pickle", "steps", "Steps from annotations “ProfilerStep#”"),
        ("oom-device-free-missing.pickle", "oom", "free memory unknown"),
        ("oom-device-free-missing.pickle", "oom", "3 OOMs in this trace."),
    ] {
        let mut opened = open(&std::fs::read(folder.join(name)).unwrap()).unwrap();
        let device = opened.summary.devices.first().unwrap().device;
        failures.extend(missing(&mut opened, device, topic, part).map(|failure| format!("{name}: {failure}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Returns what is wrong with a file that made_cases.py wrote.
fn check(bytes: &[u8], expected: &Map<String, Value>) -> Vec<String> {
    let mut opened = match (expected.get("error").and_then(Value::as_str), open(bytes)) {
        (Some(part), Err(error)) if error.contains(part) => return Vec::new(),
        (Some(part), Err(error)) => return vec![format!("{error:?} does not contain {part:?}")],
        (Some(_), Ok(_)) => return vec!["opens".to_owned()],
        (None, Err(error)) => return vec![error],
        (None, Ok(opened)) => opened,
    };
    let mut failures = Vec::new();
    let ordinal = expected.get("device").and_then(Value::as_i64);
    let devices = opened.summary.devices.iter();
    let device = devices.clone().find(|it| ordinal.is_none_or(|ordinal| it.device == ordinal));
    let Some(device) = device.cloned() else { return vec![format!("lacks the device: {:?}", opened.summary)] };
    for (key, found) in [
        ("peak", device.peak_requested),
        ("end", device.end_requested.cast_signed()),
        ("base", device.base_requested),
        ("events", device.events.cast_signed()),
        ("annotations", device.annotations.cast_signed()),
        ("members", i64::try_from(opened.members.len()).unwrap()),
    ] {
        if expected.get(key).is_some_and(|wanted| *wanted != found) {
            failures.push(format!("{key} is {found}, not {}", expected[key]));
        }
    }
    let list = |key: &str| expected.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    for kind in list("warnings") {
        if !opened.summary.warnings.iter().any(|warning| kind == warning.kind) {
            failures.push(format!("no warning {kind}: {:?}", opened.summary.warnings));
        }
    }
    let pairs = |key| list(key).into_iter().map(|pair| [0, 1].map(|at| pair[at].as_str().unwrap().to_owned()));
    for [topic, part] in pairs("says") {
        failures.extend(missing(&mut opened, device.device, &topic, &part));
    }
    if let Some(kinds) = expected.get("kinds") {
        let report = report(&mut opened, device.device, Topic::OutOfMemory, &[]);
        let requests = sheet(&report, "requests");
        let found: Vec<&str> = requests.rows.iter().map(|row| text(requests, row, "kind")).collect();
        if *kinds != serde_json::json!(found) {
            failures.push(format!("the kinds are {found:?}, not {kinds}"));
        }
    }
    for [topic, part] in pairs("lacks") {
        let texts = statements(&mut opened, device.device, &topic);
        failures.extend(texts.iter().filter(|text| text.contains(&part)).map(|text| format!("{topic} says {text:?}")));
    }
    failures
}

#[test]
fn files_made_by_python_open_with_expected_numbers_and_sentences() {
    let folder = std::env::temp_dir().join(format!("memscape-made-cases-{}", std::process::id()));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/made_cases.py");
    let Ok(output) = Command::new("python3").arg(script).arg(&folder).output() else {
        println!("SKIPPED: there is no python3 to make files");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected = std::fs::read(folder.join("expected.json")).unwrap();
    let expected: Map<String, Value> = serde_json::from_slice(&expected).unwrap();
    let mut failures = Vec::new();
    for (name, expected) in &expected {
        let found = check(&std::fs::read(folder.join(name)).unwrap(), expected.as_object().unwrap());
        failures.extend(found.into_iter().map(|failure| format!("{name}: {failure}")));
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(expected.len() > 200, "{} files were made", expected.len());
}
