//! Unit tests of insights that are computed at once.

use super::*;
use crate::report::tests::{opened, opened_bytes};
use crate::{Answer, Ask, Engine, Question, Reply, Request, Work};
use protocol::{Simulations, Topic};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// An empty simulation in a question means that none is wanted, neither of settings nor of plans.
#[test]
fn nothing_is_simulated_for_a_question_with_an_empty_simulation() {
    let snapshot = br#"{"segments": [], "device_traces": [[
        {"action": "segment_alloc", "addr": 4194304, "size": 20971520, "stream": 0, "frames": []},
        {"action": "alloc", "addr": 4194304, "size": 20971520, "stream": 0, "frames": []},
        {"action": "oom", "size": 20971520, "device_free": 0, "stream": 0, "frames": []}]]}"#;
    let (mut engine, device) = opened_bytes(snapshot.to_vec());
    let file = engine.file.as_deref_mut().unwrap();
    let question = ReportQuestion { topic: Topic::OutOfMemory, rows: 20, ..ReportQuestion::default() };
    let unwanted = ReportQuestion { simulations: Some(Box::new(Simulations::default())), ..question.clone() };
    let mut reports = Reports::new(Some(|| panic!("a simulator")));
    let report = reports.compute_all(file, device, std::slice::from_ref(&unwanted), &|| true).unwrap().remove(0);
    assert!(report.statements.len() > 1);
    assert_eq!(report, Reports::default().step(file, device, &unwanted, &mut TimeSlice::new(&mut || true)).unwrap());
    // Without it, the insight asks for a simulator.
    let simulated = || reports.compute_all(file, device, &[question], &|| true);
    assert!(catch_unwind(AssertUnwindSafe(simulated)).is_err());
}
