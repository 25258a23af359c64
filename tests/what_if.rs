//! The allocator simulation through the engine: sliced answers, partial answers, and questions without a prediction.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::generate;
use crate::opened;

use generate::Options;
use memscape::engine::{Answer, Ask, Question, Reply, Request, Work};
use memscape::protocol::{Factor, PlanGroup, PlanQuestion, WhatIf, WhatIfGrade, WhatIfOrigin, WhatIfQuestion};
use opened::{Opened, open};

fn generated(words: &str) -> Opened {
    let (options, _) = Options::parse(words.split(' ').map(str::to_owned)).unwrap();
    open(&generate::generate(&options, Vec::new()).unwrap().0).unwrap()
}

/// All answers to a question, in slices of `pieces` units of work.
fn answers(opened: &mut Opened, device: i64, question: &WhatIfQuestion, pieces: usize) -> Vec<WhatIf> {
    let what = Question::WhatIf(Box::new(question.clone()));
    opened.engine.request(Request::Ask(Ask { serial: 9, device, question: what }));
    let mut found = Vec::new();
    loop {
        let mut left = pieces;
        let work = opened.engine.step(&mut || {
            left = left.saturating_sub(1);
            left > 0
        });
        while let Some(reply) = opened.engine.next_reply() {
            match reply {
                Reply::Answer { serial: 9, answer: Answer::WhatIf(answer) } => found.push(*answer),
                other => panic!("{other:?}"),
            }
        }
        if work == Work::Idle {
            return found;
        }
    }
}

fn question() -> WhatIfQuestion {
    let lines = vec!["expandable_segments:True".to_owned(), "nonsense".to_owned()];
    WhatIfQuestion { lines, tries: true, ..WhatIfQuestion::default() }
}

#[test]
fn simulation_reproduces_generated_traces() {
    for words in ["--events 20000", "--events 20000 --pending", "--events 20000 --private-pools"] {
        let mut opened = generated(words);
        let answers = answers(&mut opened, 0, &question(), usize::MAX);
        let [answer] = answers.as_slice() else { panic!("{words}: {} answers", answers.len()) };
        let proof = &answer.proof;
        assert!(proof.is_exact && proof.refused.is_none(), "{words}: {proof:?}");
        assert!(answer.is_complete && proof.addresses > 6000 && proof.peak_reserved > 0);
        assert_eq!(proof.addresses_equal, proof.addresses, "{words}");
        let exercises = |rule: &str| !proof.not_exercised.iter().any(|other| other == rule);
        assert_eq!(exercises("deferred frees"), words.contains("--pending"), "{words}");
        assert_eq!(exercises("private pools"), words.contains("--private-pools"), "{words}");
        assert_eq!((answer.ooms, answer.is_capacity_recorded), (0, false));
        let [recorded, asked, tried @ ..] = answer.runs.as_slice() else { panic!("{words}: {answer:?}") };
        assert_eq!((recorded.origin, recorded.peak_reserved), (WhatIfOrigin::Recorded, proof.recorded_peak_reserved));
        assert_eq!((asked.origin, asked.settings.as_str()), (WhatIfOrigin::Asked, "expandable_segments:True"));
        assert!(tried.len() > 6 && tried.iter().all(|run| run.origin == WhatIfOrigin::Tried), "{words}");
        assert!(answer.runs.iter().all(|run| run.band[0] <= run.peak_reserved && run.peak_reserved <= run.band[1]));
        let grade = if answer.starts_empty { WhatIfGrade::FromSource } else { WhatIfGrade::DependsOnStart };
        assert_eq!((asked.grade, recorded.grade), (grade, WhatIfGrade::Proved), "{words}");
    }
}

/// The generator's allocator is a separate implementation with the same results.
#[test]
fn simulation_reproduces_generated_traces_with_all_options() {
    for words in [
        "--events 20000 --expandable",
        "--events 12000 --oom",
        "--events 9000 --oom --expandable --pending --seed 9 --layers 5",
        "--steps 21 --layers 3 --prerecord-mib 64 --expandable --private-pools --pending --ring 5000",
        "--steps 30 --layers 3 --prerecord-mib 64 --expandable --private-pools --pending --seed 3",
        "--events 9000 --record-from-start --pending --private-pools --leak",
        "--example",
        "--sample out-of-memory",
        "--sample leak",
        "--sample training",
        "--sample cuda-graphs",
    ] {
        let mut opened = generated(words);
        let answers = answers(&mut opened, 0, &WhatIfQuestion::default(), usize::MAX);
        let proof = &answers[0].proof;
        assert!(proof.is_exact && proof.refused.is_none() && proof.segment_events > 40, "{words}: {proof:?}");
        let exercises = |rule: &str| !proof.not_exercised.iter().any(|other| other == rule);
        assert!(!words.contains("--expandable") || exercises("expandable_segments"), "{words}: {proof:?}");
        assert!(!(words.contains("--oom") || words == "--example") || exercises("retries"), "{words}: {proof:?}");
        if words.starts_with("--steps") {
            assert!(exercises("deferred frees completed by a release"), "{words}: {proof:?}");
        }
    }
}

#[test]
fn recorded_oom_gives_capacity_and_is_reproduced() {
    let mut opened = generated("--events 20000 --oom");
    let last = opened.summary.devices[0].events as i64 - 1;
    let answers = answers(&mut opened, 0, &question(), usize::MAX);
    let answer = &answers[0];
    assert_eq!((answer.ooms, answer.is_capacity_recorded, answer.proof.largest_reserved_error), (1, true, 0));
    assert_eq!((answer.runs[0].oom_event, answer.runs[0].avoided_oom), (Some(last), None));
    let plenty = WhatIfQuestion { capacity: Some(1 << 42), ..question() };
    let answers = self::answers(&mut opened, 0, &plenty, usize::MAX);
    let [recorded, plenty, ..] = answers[0].runs.as_slice() else { panic!("{:?}", answers[0]) };
    assert_eq!((recorded.oom_event, recorded.avoided_oom), (Some(last), None), "the recording");
    assert_eq!((plenty.oom_event, plenty.avoided_oom), (None, Some(last as u32)), "its settings with more memory");
    assert_eq!((plenty.origin, &plenty.settings), (WhatIfOrigin::Asked, &recorded.settings));
}

#[test]
fn sliced_answer_equals_unsliced_and_follows_partial_answers() {
    let mut opened = generated("--events 20000 --pending");
    let once = answers(&mut opened, 0, &question(), usize::MAX);
    let mut again = generated("--events 20000 --pending");
    let mut question = WhatIfQuestion { partial: true, ..question() };
    let parts = answers(&mut again, 0, &question, 3);
    assert_eq!(parts.last(), once.last());
    let counts: Vec<usize> = parts.iter().map(|part| part.runs.len()).collect();
    let runs = once[0].runs.len();
    assert_eq!(counts, (1..=runs).chain([runs]).collect::<Vec<_>>());
    assert_eq!(parts.iter().filter(|part| part.is_complete).count(), 1);
    // A newer question replaces an unanswered one.
    question.tries = false;
    let ask = |question: &WhatIfQuestion| {
        Request::Ask(Ask { serial: 9, device: 0, question: Question::WhatIf(Box::new(question.clone())) })
    };
    again.engine.request(ask(&WhatIfQuestion { fits: true, tries: true, ..question.clone() }));
    again.engine.step(&mut || false);
    let newer = answers(&mut again, 0, &WhatIfQuestion { partial: false, ..question }, usize::MAX);
    assert_eq!(
        newer.iter().filter(|answer| answer.is_complete).map(|answer| answer.runs.len()).collect::<Vec<_>>(),
        [2]
    );
}

#[test]
fn host_memory_and_unknown_device_have_no_prediction() {
    let mut opened = generated("--events 2000 --host");
    let host = answers(&mut opened, -1, &question(), usize::MAX);
    assert_eq!(host[0].proof.refused.as_deref(), Some("pinned host memory has an allocator of its own"));
    assert!(host[0].runs.is_empty() && host[0].fits.is_empty());
    assert!(answers(&mut opened, 7, &question(), usize::MAX).is_empty());
}

/// Planned size of each allocation, computed in slices of `pieces` units of work.
fn sizes(opened: &mut Opened, plan: &PlanQuestion, pieces: usize) -> Vec<u64> {
    let what = Question::PlannedSizes(Box::new(plan.clone()));
    opened.engine.request(Request::Ask(Ask { serial: 9, device: 0, question: what }));
    loop {
        let mut left = pieces;
        opened.engine.step(&mut || {
            left = left.saturating_sub(1);
            left > 0
        });
        if let Some(Reply::Answer { answer: Answer::PlannedSizes(bytes), .. }) = opened.engine.next_reply() {
            return bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        }
    }
}

#[test]
fn simulation_uses_planned_sizes() {
    let mut opened = generated("--events 20000");
    let group = |name: &str, factor: &str| (PlanGroup::Named(name.to_owned()), Factor::parse(factor).unwrap());
    let plan = |groups, batch: &str| PlanQuestion { groups, batch: Factor::parse(batch).unwrap(), capacity: None };
    let recorded = sizes(&mut opened, &plan(Vec::new(), "1"), usize::MAX);
    let groups = vec![group("parameter", "/3"), group(">=1MiB", "2x")];
    let planned = sizes(&mut opened, &plan(groups.clone(), "3/2"), usize::MAX);
    assert_eq!(sizes(&mut opened, &plan(groups, "3/2"), 1), planned, "in slices");
    assert_eq!(recorded.len(), planned.len());
    // Each allocation has one of the products of the factors.
    let scaled = |size: u64, times: u64, by: u64| (size * times).div_ceil(by);
    let mut seen = [0u32; 6];
    for (&recorded, &planned) in recorded.iter().zip(&planned) {
        let is_large = recorded >= 1 << 20;
        let products = [(1, 1), (3, 2), (1, 3), (2, 1), (3, 1), (2, 3)];
        let found = products.iter().position(|&(times, by)| scaled(recorded, times, by) == planned);
        let found = found.unwrap_or_else(|| panic!("{recorded} B became {planned} B"));
        seen[found] += 1;
        assert!(recorded < 16 || is_large == (found >= 3), "{recorded} B became {planned} B");
    }
    assert!(seen[1] > 0 && seen[2] + seen[5] > 0 && seen[4] > 0, "{seen:?}");
    // The simulation uses the sizes requested last.
    let question = WhatIfQuestion { is_planned: true, ..WhatIfQuestion::default() };
    let peak = |opened: &mut Opened| answers(opened, 0, &question, usize::MAX)[0].runs[0].peak_reserved;
    let larger = peak(&mut opened);
    sizes(&mut opened, &plan(vec![group(">=0", "0")], "1"), usize::MAX);
    assert_eq!(peak(&mut opened), 0);
    sizes(&mut opened, &plan(Vec::new(), "1"), usize::MAX);
    let as_recorded = answers(&mut opened, 0, &question, usize::MAX);
    assert_eq!(as_recorded, answers(&mut opened, 0, &WhatIfQuestion::default(), usize::MAX));
    assert!(as_recorded[0].runs[0].peak_reserved < larger);
    // A group that cannot be searched for has no sizes.
    assert!(sizes(&mut opened, &plan(vec![group("#x", "2x")], "1"), usize::MAX).is_empty());
    let refused = &answers(&mut opened, 0, &question, usize::MAX)[0].proof.refused;
    assert_eq!(refused.as_deref(), Some("the sizes of the plan are not known"));
}
