//! The report on a range compared with sums over the allocations, on generated and real files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::opened;
use crate::reported;
use crate::trained;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{Cell, Evidence, RangeFacts, Report, ReportQuestion, Sheet, Span, Tone, Topic};
use memscape::units::Bytes;
use opened::{Opened, open};
use reported::{cell, number, report_of, sheet};
use trained::generated;

fn report(opened: &mut Opened, device: i64, range: Option<Span>) -> Report {
    let question = ReportQuestion { topic: Topic::Range, range, rows: 10_000, ..ReportQuestion::default() };
    report_of(opened.reply(Request::Ask(Ask { serial: 7, device, question: Question::Report(question) })))
}

fn facts(opened: &mut Opened, device: i64, span: Span) -> RangeFacts {
    match opened.reply(Request::Ask(Ask { serial: 1, device, question: Question::Range(span) })) {
        Reply::Answer { answer: Answer::Range(facts), .. } => facts,
        other => panic!("not a range: {other:?}"),
    }
}

fn sum(sheet: &Sheet, key: &str) -> u64 {
    sheet.rows.iter().map(|row| u64::try_from(number(sheet, row, key)).unwrap()).sum()
}

/// Compares the report on a range with the totals of the range.
fn check(opened: &mut Opened, device: i64, span: Span) {
    let report = report(opened, device, Some(span));
    let facts = facts(opened, device, span);
    let [first, peak, flows, ..] = &report.statements[..] else { panic!("{:?}", report.statements) };
    let size = |bytes: u64| Bytes(bytes).to_string();
    let [start, end] = [facts.live_at_start, facts.live_at_end].map(size);
    assert!(first.text.contains(&format!("live bytes from {start} to {end} (")), "{}", first.text);
    assert!(peak.text.starts_with(&format!("Peak in the range: {} ", size(facts.peak))), "{}", peak.text);
    let at_peak = Evidence { moment: Some(facts.peak_moment), ..Evidence::default() };
    assert_eq!(peak.evidence.as_ref(), Some(&at_peak));
    for (word, total) in
        [("Allocated: ", facts.allocated), ("Freed: ", facts.freed), ("live at its end: ", facts.still_live)]
    {
        assert!(flows.text.contains(&format!("{word}{} in ", size(total.bytes))), "{}", flows.text);
    }
    let sites = sheet(&report, "sites");
    assert_eq!(sum(sites, "allocated_bytes"), facts.allocated.bytes);
    assert_eq!(sum(sites, "freed_bytes"), facts.freed.bytes);
    assert_eq!(sum(sites, "kept_bytes"), facts.still_live.bytes);
    assert_eq!(sum(sites, "count"), u64::from(facts.allocated.count));
    let kept: Vec<_> = sites.rows.iter().map(|row| number(sites, row, "kept_bytes")).collect();
    assert!(kept.is_sorted_by(|one, next| one >= next), "{kept:?}");
    assert_eq!(sum(sheet(&report, "live"), "live_bytes"), facts.peak);
}

#[test]
fn report_equals_totals_of_generated_ranges() {
    for words in ["--steps 3 --layers 3", "--events 400 --leak --seed 4", "--steps 2 --layers 3 --oom --ring 300"] {
        let (mut opened, ..) = generated(words);
        let device = opened.summary.devices[0].clone();
        let end = u32::try_from(device.events).unwrap();
        let spans = [(0, end), (0, 0), (end / 3, end / 2), (end / 2, end / 2 + 1), (end, end), (7, end - 1)];
        for (from, to) in spans {
            check(&mut opened, device.device, Span { from, to });
        }
        let whole = report(&mut opened, device.device, None);
        assert_eq!(whole, report(&mut opened, device.device, Some(Span { from: 0, to: end })), "{words}");
        // A range beyond the end is cut there.
        assert_eq!(whole, report(&mut opened, device.device, Some(Span { from: 0, to: u32::MAX })), "{words}");
        let failures = report(&mut opened, device.device, None).statements;
        let has_oom = failures.iter().any(|it| it.tone == Tone::Alarm && it.text.contains("OOM in the range"));
        assert_eq!(has_oom, words.contains("--oom"), "{words}");
    }
}

#[test]
fn report_equals_totals_of_ranges_of_real_files() {
    let Some(folder) = opened::snapshots() else { return };
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.metadata().is_ok_and(|it| it.is_file() && it.len() < 3 << 20));
    files.sort();
    for path in files {
        let Ok(mut opened) = open(&std::fs::read(&path).unwrap()) else { continue };
        for device in opened.summary.devices.clone().iter().take(2) {
            let end = u32::try_from(device.events).unwrap();
            for (from, to) in [(0, end / 2), (end / 3, end)] {
                check(&mut opened, device.device, Span { from, to });
            }
        }
    }
}

#[test]
fn site_without_kept_bytes_is_listed_with_what_it_freed() {
    let (mut opened, ..) = generated("--steps 2 --layers 2");
    let device = opened.summary.devices[0].clone();
    let report = report(&mut opened, device.device, None);
    let sites = sheet(&report, "sites");
    let temporary = sites.rows.iter().find(|row| number(sites, row, "kept_bytes") == 0).expect("a temporary");
    assert!(number(sites, temporary, "freed_bytes") > 0);
    assert!(matches!(cell(sites, temporary, "call_site"), Cell::Text(name) if !name.is_empty()));
}

#[test]
fn range_within_a_phase_is_named_after_it() {
    let (mut opened, ..) = generated("--steps 3 --layers 3");
    let device = opened.summary.devices[0].clone();
    let question = ReportQuestion { topic: Topic::Peak, rows: 10, ..ReportQuestion::default() };
    let peak = Request::Ask(Ask { serial: 7, device: device.device, question: Question::Report(question) });
    let peak = report_of(opened.reply(peak));
    let phases = sheet(&peak, "phases");
    assert_eq!(phases.rows.len(), 3);
    for row in &phases.rows {
        let name = reported::text(phases, row, "phase");
        let span = row.evidence.as_ref().and_then(|it| it.span).unwrap();
        let first = report(&mut opened, device.device, Some(span)).statements.remove(0).text;
        // The table has the phase of each kind with the highest peak.
        assert!(
            first.contains(&format!(" ({name} ")) && first.contains(" of 3 with the highest peak, in step "),
            "{first}"
        );
    }
    let end = u32::try_from(device.events).unwrap();
    let whole = report(&mut opened, device.device, None).statements.remove(0).text;
    let parts = ["(forward ", ", backward ", ", optimizer ", "% of the events): live bytes from "];
    assert!(parts.iter().all(|part| whole.contains(part)), "{whole}");
    let none = report(&mut opened, device.device, Some(Span { from: end, to: end })).statements.remove(0).text;
    assert!(none.starts_with("No events: ") && none.ends_with(" (unchanged)."), "{none}");
}
