//! Unit tests of reports in cache files.

use super::*;
use crate::rehearsal::SyntheticSnapshot;
use crate::report::tests::{open_in, opened_bytes};
use crate::{Answer, Ask, Engine, Question, Reply, Request, Work};
use analysis::CategorySet;
use protocol::Topic;

/// Returns an engine that has opened a snapshot and made two reports, the ordinal of its device, and the reports.
fn reported() -> (Engine, i64, Vec<Report>) {
    let (mut engine, device) = opened_bytes(SyntheticSnapshot::new(16).flatten().collect());
    let reports = questions().map(|question| ask(&mut engine, device, question)).collect();
    (engine, device, reports)
}

fn questions() -> impl Iterator<Item = ReportQuestion> {
    [Topic::Peak, Topic::Categories].into_iter().map(|topic| ReportQuestion { topic, rows: 10, ..Default::default() })
}

fn ask(engine: &mut Engine, device: i64, question: ReportQuestion) -> Report {
    engine.request(Request::Ask(Ask { serial: 1, device, question: Question::Report(question) }));
    while engine.step(&mut || true) == Work::More {}
    let mut replies = std::iter::from_fn(|| engine.next_reply());
    let answer = replies.find_map(|reply| match reply {
        Reply::Answer { answer: Answer::Report(report), .. } => Some(*report),
        _ => None,
    });
    answer.unwrap()
}

fn cache_of(engine: &Engine) -> Vec<u8> {
    engine.write_cache(Vec::new()).unwrap()
}

/// Returns a report on no file, which no insight makes.
fn marked() -> Report {
    Report { topic: Topic::Peak, statements: vec![Default::default(); 40], ..Report::default() }
}

#[test]
fn cache_file_contains_reports() {
    let (engine, device, reports) = reported();
    let (mut again, _) = opened_bytes(cache_of(&engine));
    let kept: Vec<Report> =
        questions().filter_map(|it| again.questions.reports.finished.find(device, &it).cloned()).collect();
    assert_eq!(kept, reports);
    assert_eq!(again.questions.reports.finished.find(device + 1, &questions().next().unwrap()), None);
    assert_eq!(cache_of(&again), cache_of(&engine), "also of a file that was opened from the cache");
    let mut other = questions().next().unwrap();
    other.rows += 1;
    assert_eq!(ask(&mut again, device, other).topic, Topic::Peak, "other questions are answered as well");
}

#[test]
fn known_report_is_not_made_again() {
    let (mut engine, device) = opened_bytes(SyntheticSnapshot::new(16).flatten().collect());
    let question = questions().next().unwrap();
    engine.questions.reports.finished.add(device, &question, &marked());
    let (mut again, _) = opened_bytes(cache_of(&engine));
    assert_eq!(ask(&mut again, device, question), marked());
}

#[test]
fn reports_under_other_rules_are_neither_written_nor_read() {
    let (mut engine, device, reports) = reported();
    let whole = cache_of(&engine);
    let rules = CategorySet { name: "none".to_owned(), rules: Vec::new(), ..CategorySet::standard() };
    for request in [Request::Categories(Box::new(rules)), Request::InternalFrames(vec!["name:forward".to_owned()])] {
        let (mut changed, _) = opened_bytes(whole.clone());
        changed.request(request.clone());
        let again = ask(&mut changed, device, questions().next().unwrap());
        let with_rules = cache_of(&changed);
        assert!(with_rules.len() < whole.len(), "{request:?}");
        // The rules are set before the file is opened.
        let mut early = Engine::new();
        early.request(request.clone());
        open_in(&mut early, whole.clone());
        assert_eq!(ask(&mut early, device, questions().next().unwrap()), again, "{request:?}");
        assert_eq!(cache_of(&early), with_rules, "{request:?}");
    }
    engine.request(Request::Categories(Box::new(CategorySet::standard())));
    assert!(cache_of(&engine).len() < whole.len(), "reports before a change of rules are dropped");
    let made: Vec<Report> = questions().map(|question| ask(&mut engine, device, question)).collect();
    assert_eq!((made, cache_of(&engine)), (reports, whole));
}

#[test]
fn number_and_length_of_reports_are_limited() {
    let mut reports = FinishedReports::default();
    for rows in 0..2 * MAX_REPORTS as u32 {
        reports.add(0, &ReportQuestion { rows, ..ReportQuestion::default() }, &marked());
    }
    assert_eq!(reports.reports.len(), MAX_REPORTS);
    assert!(!reports.encode().is_empty());
    reports.reports[0].2.statements = vec![Default::default(); MAX_ENCODED];
    assert!(reports.encode().is_empty());
    let mut damaged = FinishedReports::encoded(vec![255; 9]);
    assert_eq!(damaged.find(0, &ReportQuestion::default()), None);
}
