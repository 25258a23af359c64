//! Unit tests of insights that are computed at once.

use super::*;
use crate::rehearsal::SyntheticSnapshot;
use crate::{Answer, Ask, Engine, Question, Reply, Request, Work};
use protocol::{Access, Topic};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns an engine that has opened a small snapshot, and the ordinal of its device.
fn opened() -> (Engine, i64) {
    let bytes: Vec<u8> = SyntheticSnapshot::new(16).flatten().collect();
    let total_bytes = Some(bytes.len() as u64);
    let mut engine = Engine::new();
    engine.request(Request::Open { name: String::new(), total_bytes, access: Access::Random, member: None });
    engine.feed(bytes);
    while engine.step(&mut || true) == Work::More {}
    engine.request(Request::EndOfFile);
    while engine.step(&mut || true) == Work::More {}
    let device = engine.file.as_ref().unwrap().histories[0].device;
    (engine, device)
}

fn one_by_one(engine: &mut Engine, device: i64, questions: &[ReportQuestion]) -> Vec<Report> {
    let mut answer = |question: &ReportQuestion| {
        engine.request(Request::Ask(Ask { serial: 1, device, question: Question::Report(question.clone()) }));
        while engine.step(&mut || true) == Work::More {}
        let mut replies = std::iter::from_fn(|| engine.next_reply());
        replies.find_map(|reply| match reply {
            Reply::Answer { answer: Answer::Report(report), .. } => Some(*report),
            _ => None,
        })
    };
    questions.iter().map(|question| answer(question).unwrap()).collect()
}

#[test]
fn reports_at_once_equal_reports_one_by_one() {
    let (mut engine, device) = opened();
    for at in [None, Some(100)] {
        let question = |topic| ReportQuestion { topic, at, rows: 20, ..ReportQuestion::default() };
        // Reversed and twice, because the order and the shared results must not matter.
        let questions: Vec<_> = Topic::ALL.into_iter().rev().chain(Topic::ALL).map(question).collect();
        let at_once = engine.reports(device, &questions, &|| true).unwrap();
        assert!(at_once.iter().any(|report| report.statements.len() > 1));
        assert_eq!(at_once, one_by_one(&mut opened().0, device, &questions));
    }
}

#[test]
fn cancelled_reports_are_none_and_can_be_asked_again() {
    let (mut engine, device) = opened();
    let questions = Topic::ALL.map(|topic| ReportQuestion { topic, rows: 20, ..ReportQuestion::default() });
    let calls = AtomicUsize::new(0);
    // Each number of calls stops the work at another place.
    for allowed in [0, 1, 3, 9] {
        let may_continue = || calls.fetch_add(1, Ordering::Relaxed) < allowed;
        calls.store(0, Ordering::Relaxed);
        let reports = engine.reports(device, &questions, &may_continue);
        assert!(reports.is_none() || calls.load(Ordering::Relaxed) <= allowed);
    }
    assert_eq!(engine.reports(device, &questions, &|| true).unwrap(), one_by_one(&mut opened().0, device, &questions));
}

#[test]
fn reports_on_an_unknown_device_are_empty() {
    let (mut engine, _) = opened();
    let reports = engine.reports(77, &[ReportQuestion::default()], &|| true).unwrap();
    assert_eq!(reports, [Report { topic: ReportQuestion::default().topic, ..Report::default() }]);
    assert!(Engine::new().reports(0, &[], &|| true).is_none());
}
