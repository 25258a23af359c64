//! The events list compared with brute force: rows, versions, totals, filters, jumps and copied text, of random
//! histories and real files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use crate::opened;

use memscape::engine::{Answer, Ask, Engine, Question, Reply, Request};
use memscape::protocol::{
    Action, EventRow, EventsFilter, EventsPage, EventsQuestion, MomentSpec, NamedAction, NamedEvent, versioned,
};
use opened::{Opened, open, real_pickles, reply};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashMap;

/// One event of a random file.
#[derive(Clone, Debug)]
struct RandomEvent {
    action: &'static str,
    address: u64,
    size: u64,
    stream: u64,
    /// Number of frames. An event with 0 has no stack.
    frames: u64,
}

const ACTIONS: [&str; 9] = [
    "alloc",
    "alloc",
    "alloc",
    "free_requested",
    "free_completed",
    "free_completed",
    "segment_map",
    "segment_unmap",
    "oom",
];

fn random_event() -> impl Strategy<Value = RandomEvent> {
    (0..ACTIONS.len(), 0..5u64, 1..9u64, 0..3u64, 0..4u64).prop_map(|(action, address, size, stream, frames)| {
        RandomEvent { action: ACTIONS[action], address: (address + 1) << 32, size: size * 700, stream, frames }
    })
}

fn file(events: &[RandomEvent]) -> Vec<u8> {
    let event = |(place, reported): (usize, &RandomEvent)| {
        let mut event = json!({ "action": reported.action, "size": reported.size, "stream": reported.stream, "time_us": 1_000 + 10 * place });
        event["addr"] = json!(reported.address);
        if reported.action == "oom" {
            event["device_free"] = json!(reported.address);
        }
        let frame = |at: u64| json!({ "name": format!("=f{at}"), "filename": "train.py", "line": at + 1 });
        event["frames"] = (0..reported.frames).map(frame).collect();
        event
    };
    let trace: Vec<Value> = events.iter().enumerate().map(event).collect();
    serde_json::to_vec(&json!({ "segments": [], "device_traces": [trace] })).unwrap()
}

fn page(engine: &mut Engine, device: i64, question: &EventsQuestion) -> EventsPage {
    let request = Request::Ask(Ask { serial: 4, device, question: Question::Events(Box::new(question.clone())) });
    match reply(engine, request) {
        Reply::Answer { serial: 4, answer: Answer::Events(page) } => *page,
        other => panic!("expected events, got {other:?}"),
    }
}

fn filtered(text: &str) -> EventsQuestion {
    let filter = EventsFilter { text: text.to_owned(), ..EventsFilter::default() };
    EventsQuestion { filter, rows: [0, 512], ..EventsQuestion::default() }
}

/// Fetches all rows of a list, page by page.
fn rows(engine: &mut Engine, device: i64, question: &EventsQuestion) -> Vec<EventRow> {
    let mut rows: Vec<EventRow> = Vec::new();
    loop {
        let page = page(engine, device, &EventsQuestion { rows: [rows.len() as u32, 512], ..question.clone() });
        assert_eq!(page.first as usize, rows.len());
        let listed = page.listed as usize;
        rows.extend(page.rows);
        if rows.len() >= listed {
            assert_eq!(rows.len(), listed);
            return rows;
        }
    }
}

/// Returns the versions of the addresses of all events.
fn versions(all: &[EventRow]) -> Vec<u32> {
    let mut ended: [HashMap<u64, u32>; 2] = Default::default();
    let count = |row: &EventRow| {
        let action = Action::ALL[usize::from(row.action)];
        let of = match action {
            Action::Alloc | Action::FreeRequested | Action::FreeCompleted => &mut ended[0],
            Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap => &mut ended[1],
            _ => return 0,
        };
        let version = of.entry(row.address.unwrap()).or_default();
        let before = *version;
        *version += u32::from(matches!(action, Action::FreeCompleted | Action::SegmentFree | Action::SegmentUnmap));
        before
    };
    all.iter().map(count).collect()
}

/// Checks versions, totals and jumps of a list.
fn check(opened: &mut Opened, device: i64, all: &[EventRow]) {
    let reported = versions(all);
    for (row, version) in all.iter().zip(&reported) {
        assert_eq!(row.version, *version, "event {}", row.event);
    }
    let few = |count: usize| (0..count).step_by(1 + count / 40);
    for event in few(all.len()).map(|event| &all[event]) {
        let at = vec![MomentSpec::Moment(event.event + 1)];
        let Reply::Answer { answer: Answer::Moments(moments), .. } =
            opened.reply(Request::Ask(Ask { serial: 1, device, question: Question::Moments(at) }))
        else {
            panic!()
        };
        let facts = moments[0];
        assert_eq!(
            (event.active, event.awaiting_free, event.reserved),
            (facts.requested, facts.awaiting_free, facts.reserved)
        );
        assert_eq!(event.time_us, facts.time_us);
        // Finds the event by its versioned address, as the command line does.
        let turn = match Action::ALL[usize::from(event.action)] {
            Action::Alloc => NamedAction::Alloc,
            Action::FreeCompleted => NamedAction::FreeCompleted,
            _ => continue,
        };
        let named = NamedEvent { action: turn, address: event.address.unwrap(), version: event.version };
        let Reply::Answer { answer: Answer::Moments(moments), .. } = opened.reply(Request::Ask(Ask {
            serial: 1,
            device,
            question: Question::Moments(vec![MomentSpec::After(named)]),
        })) else {
            panic!()
        };
        let first =
            all.iter().find(|it| (it.action, it.address, it.version) == (event.action, event.address, event.version));
        assert_eq!(moments[0].moment, first.unwrap().event + 1);
        let listed = rows(&mut opened.engine, device, &filtered(&versioned(named.address, named.version)));
        let expected = all.iter().filter(|it| it.address == event.address && it.version == event.version);
        assert!(listed.iter().eq(expected), "{}", versioned(named.address, named.version));
    }
}

type Passes<'a> = &'a dyn Fn(&EventRow) -> bool;

fn check_filters(opened: &mut Opened, device: i64, all: &[EventRow]) {
    let is = |row: &EventRow, name: &str| Action::ALL[usize::from(row.action)].name() == name;
    let cases: [(&str, Passes<'_>); 8] = [
        ("alloc, oom", &|row| is(row, "alloc") || is(row, "oom")),
        (">=2KiB & <4000", &|row| (2048..4000).contains(&row.size)),
        ("stream:1", &|row| row.stream == Some(1)),
        ("free_completed & stream:0", &|row| is(row, "free_completed") && row.stream == Some(0)),
        ("#3", &|row| row.allocation == Some(3)),
        ("0x200000001", &|row| !is(row, "oom") && row.address == Some(2 << 32) && row.size > 1),
        ("/(/", &|_| false),
        ("pool:1", &|_| false),
    ];
    for (text, passes) in cases {
        let question = filtered(text);
        let expected: Vec<&EventRow> = all.iter().filter(|row| passes(row)).collect();
        assert!(rows(&mut opened.engine, device, &question).iter().eq(expected.iter().copied()), "{text}");
        for event in [0, all.len() as u32 / 2, u32::MAX] {
            let asked = EventsQuestion { reveal: Some(event), rows: [0, 0], ..question.clone() };
            let row = expected.iter().position(|row| row.event >= event).or(expected.len().checked_sub(1));
            assert_eq!(page(&mut opened.engine, device, &asked).revealed, row.map(|row| row as u32), "{text}");
        }
    }
    let [from, to] = [all.len() as u32 / 3, all.len() as u32 / 2];
    for actions in [0, EventsFilter::bit(Action::Alloc) | EventsFilter::bit(Action::SegmentMap)] {
        let filter = EventsFilter { actions, range: Some([from, to]), ..EventsFilter::default() };
        let question = EventsQuestion { filter, ..filtered("") };
        let expected = all[from as usize..to as usize].iter();
        let expected = expected.filter(|row| actions == 0 || is(row, "alloc") || is(row, "segment_map"));
        assert!(rows(&mut opened.engine, device, &question).iter().eq(expected), "{actions:b}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn random_histories_match_brute_force(events in prop::collection::vec(random_event(), 1..90)) {
        let mut opened = open(&file(&events)).unwrap();
        let all = rows(&mut opened.engine, 0, &filtered(""));
        prop_assert_eq!(all.len(), events.len());
        for (row, reported) in all.iter().zip(&events) {
            let named = Action::ALL[usize::from(row.action)].name();
            prop_assert_eq!((named, row.stream), (reported.action, Some(reported.stream)));
            let address = Some(reported.address);
            prop_assert_eq!(if reported.action == "oom" { row.device_free } else { row.address }, address);
            prop_assert_eq!(row.since_us, (row.event > 0).then_some(10));
            if reported.action == "alloc" || row.allocation.is_none() {
                prop_assert_eq!(row.size, reported.size);
            }
            if reported.frames > 0 {
                prop_assert_eq!(&row.call_site, "train.py:1 =f0");
            }
        }
        check(&mut opened, 0, &all);
        check_filters(&mut opened, 0, &all);
    }
}

#[test]
fn copied_text_has_selected_rows_and_no_formulas() {
    let reported = |action, frames| RandomEvent { action, address: 1 << 32, size: 700, stream: 1, frames };
    let mut opened = open(&file(&[reported("alloc", 1), reported("free_completed", 0), reported("alloc", 0)])).unwrap();
    let question = EventsQuestion { selected: vec![[0, 1], [1, 9]], ..filtered("") };
    let request = Request::Ask(Ask { serial: 7, device: 0, question: Question::EventsText(Box::new(question)) });
    let Reply::Answer { serial: 7, answer: Answer::TableText(part) } = opened.reply(request) else { panic!() };
    assert_eq!((part.rows, part.last), (3, true));
    let lines: Vec<Vec<&str>> = part.text.lines().map(|line| line.split('\t').collect()).collect();
    assert!(lines.iter().all(|line| line.len() == 15), "{lines:?}");
    let row = |line: usize| lines[line][..7].join(" ");
    assert_eq!(row(1), "0 alloc 1000  700 0x100000000 0");
    assert_eq!(row(2), "1 free_completed 1010 10 700 0x100000000 0");
    assert_eq!(row(3), "2 alloc 1020 10 700 0x100000000 1");
    assert_eq!(lines[1][11..], ["700", "0", "0", "train.py:1 =f0"]);
    // A free without a stack shows the stack of its allocation.
    assert_eq!(lines[2][14], "train.py:1 =f0");
    let frames = json!([{ "name": "=cmd()", "filename": "??", "line": 0 }]);
    let event = json!({ "action": "alloc", "addr": 1, "size": 1, "stream": 0, "frames": frames });
    let bytes = serde_json::to_vec(&json!({ "segments": [], "device_traces": [[event]] })).unwrap();
    let question = Box::new(EventsQuestion { selected: vec![[0, 1]], ..filtered("") });
    let request = Request::Ask(Ask { serial: 7, device: 0, question: Question::EventsText(question) });
    let Reply::Answer { answer: Answer::TableText(part), .. } = open(&bytes).unwrap().reply(request) else { panic!() };
    assert!(part.text.trim_end().ends_with("\t'=cmd()"), "{}", part.text);
}

#[test]
fn events_of_real_files_match_brute_force() {
    let Some(files) = real_pickles() else { return };
    for path in files {
        let mut opened = open(&std::fs::read(&path).unwrap()).unwrap();
        for device in opened.summary.devices.clone() {
            let all = rows(&mut opened.engine, device.device, &filtered(""));
            assert_eq!(all.len() as u64, device.events, "{}", path.display());
            check(&mut opened, device.device, &all);
            check_filters(&mut opened, device.device, &all);
        }
    }
}
