//! The report on steps and annotations compared with the ground truth of generated files, with Mosaic's own constants,
//! and on hostile annotations.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::generate;
use crate::opened;
use crate::reported;

use crate::trained;

use generate::expected::ExpectedStep;
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{Cell, Grouping, RangeFacts, Report, Sheet, SheetRow, Tone, Topic};
use opened::{Opened, open, reply, snapshots};
use reported::{report_request, sheet, text};
use trained::generated;

fn report(opened: &mut Opened, device: i64) -> Report {
    reported::report(opened, device, Topic::Steps, &[])
}

/// Number in a cell that cannot be negative.
fn number(sheet: &Sheet, row: &SheetRow, key: &str) -> u64 {
    u64::try_from(reported::number(sheet, row, key)).unwrap()
}

/// Steps of the report in the format of the ground truth.
fn steps(report: &Report) -> Vec<ExpectedStep> {
    let sheet = sheet(report, "steps");
    let step = |row: &SheetRow| {
        let number = |key| number(sheet, row, key);
        ExpectedStep {
            step: text(sheet, row, "step").trim_start_matches("step_").parse().unwrap(),
            first_event: number("first_event"),
            last_event: number("last_event"),
            start_requested: number("start_live_bytes"),
            end_requested: number("end_live_bytes"),
            peak_requested: number("peak_live_bytes"),
            allocated_bytes: number("requested_bytes"),
            freed_bytes: number("freed_bytes"),
        }
    };
    sheet.rows.iter().map(step).collect()
}

#[test]
fn annotated_steps_match_ground_truth() {
    for words in [
        "--steps 3 --layers 3 --hidden 512",
        "--events 9000 --ring 4000 --layers 6 --pending --private-pools",
        "--steps 7 --layers 2 --hidden 256 --expandable --style cpp",
        "--steps 9 --layers 2 --hidden 256 --devices 2 --leak --layer-annotations",
        "--events 5000 --layers 4 --oom --leak --snapshots",
        "--steps 21 --layers 3 --prerecord-mib 64 --expandable --private-pools --pending --ring 5000 --style cpp",
        "--example",
    ] {
        let (mut opened, truth) = generated(words);
        for device in &truth.devices {
            let report = report(&mut opened, device.device);
            assert!(!device.whole_steps.is_empty(), "{words}");
            assert_eq!(steps(&report), device.whole_steps, "{words}");
        }
    }
}

/// Without annotations, a step starts with the first allocation of the true step and lasts until the first allocation
/// of the next one. Events in between that neither allocate nor free belong to it. Segments allocated for its first
/// allocation do not.
#[test]
fn steps_are_inferred_without_annotations() {
    for words in [
        "--steps 5 --layers 3 --hidden 512 --no-annotations",
        "--events 9000 --layers 4 --no-annotations --pending",
        "--steps 9 --layers 2 --hidden 256 --expandable --style cpp --no-annotations --no-time --snapshots",
        "--steps 12 --layers 2 --hidden 256 --record-from-start --leak --no-annotations",
        "--steps 21 --layers 3 --prerecord-mib 64 --private-pools --ring 5000 --no-annotations",
    ] {
        let (mut opened, truth) = generated(words);
        let device = &truth.devices[0];
        let report = report(&mut opened, device.device);
        let found = steps(&report);
        // With `--events`, training stops in the middle of a step. The ground truth counts that step, but it is not
        // inferred.
        let cut = usize::from(words.starts_with("--events"));
        assert_eq!(found.len() + cut, device.whole_steps.len(), "{words}: {:?}", report.statements);
        for (found, step) in found.iter().zip(&device.whole_steps) {
            let begins = step.first_event..=step.first_event + 1;
            assert!(begins.contains(&found.first_event), "{words}: {found:?} {step:?}");
            assert!(found.last_event >= step.last_event, "{words}: {found:?} {step:?}");
            let (first_event, last_event) = (step.first_event, step.last_event);
            let found = ExpectedStep { step: step.step, first_event, last_event, ..found.clone() };
            assert_eq!(&found, step, "{words}");
        }
    }
}

fn tones(report: &Report) -> Vec<Tone> {
    report.statements.iter().map(|statement| statement.tone).collect()
}

#[test]
fn growth_raises_alarm_and_constant_memory_does_not() {
    for base in [
        "--steps 6 --layers 2 --hidden 256 --prerecord-mib 64",
        "--steps 8 --layers 3 --hidden 128 --prerecord-mib 32 --no-annotations",
    ] {
        for seed in 1..6 {
            let (mut healthy, truth) = generated(&format!("{base} --seed {seed}"));
            let healthy = report(&mut healthy, truth.devices[0].device);
            assert!(tones(&healthy).contains(&Tone::Good) && !tones(&healthy).contains(&Tone::Alarm), "{healthy:?}");
            let (mut leaking, truth) = generated(&format!("{base} --seed {seed} --leak"));
            let leaking = report(&mut leaking, truth.devices[0].device);
            assert!(tones(&leaking).contains(&Tone::Alarm), "{:?}", leaking.statements);
        }
    }
}

/// None of the real training runs grows.
#[test]
fn real_files_raise_no_alarm() {
    for path in opened::real_pickles().unwrap_or_default() {
        let Ok(mut opened) = open(&std::fs::read(&path).unwrap()) else { continue };
        for device in opened.summary.devices.clone() {
            let report = report(&mut opened, device.device);
            assert!(!tones(&report).contains(&Tone::Alarm), "{}: {:?}", path.display(), report.statements);
        }
    }
}

/// Figures that Mosaic's own tests expect for the file shipped with it (`semantics.md` §1).
#[test]
fn report_matches_mosaic_figures() {
    let Some(folder) = snapshots() else { return };
    let bytes = std::fs::read(folder.join("anonymised-annotations-compile-context.pickle")).unwrap();
    let mut opened = open(&bytes).unwrap();
    let report = report(&mut opened, 0);
    let mosaic = sheet(&report, "mosaic");
    let of = |what: &str, name: &str| {
        let mut rows = mosaic.rows.iter();
        let row = rows.find(|row| text(mosaic, row, "what") == what && text(mosaic, row, "name") == name);
        number(mosaic, row.unwrap_or_else(|| panic!("no {what} {name}")), "live_bytes")
    };
    assert_eq!(of("dynamic peak", ""), 2_255_398_132);
    let contexts = ["context1", "context2", "context3"].map(|name| of("compile_context at the peak", name));
    assert_eq!(contexts, [528_274_631, 1_212_434_191, 514_689_310]);
    assert_eq!(of("annotation at the peak", "Annotation1"), 2_255_398_132);
    let stages: Vec<&str> = mosaic
        .rows
        .iter()
        .filter(|row| text(mosaic, row, "what") == "stage")
        .map(|row| text(mosaic, row, "name"))
        .collect();
    let expected = [
        "Annotation3_START",
        "Annotation3_START(1)",
        "Annotation1_START",
        "Annotation1_END",
        "Annotation3_END",
        "Annotation3_END(1)",
    ];
    assert_eq!(stages, expected);
}

/// Legend entries at the peak: the same figures as Mosaic, and allocations from before recording.
#[test]
fn legends_by_annotation_and_region_agree_with_mosaic() {
    let Some(folder) = snapshots() else { return };
    let bytes = std::fs::read(folder.join("anonymised-annotations-compile-context.pickle")).unwrap();
    let mut opened = open(&bytes).unwrap();
    let mut legend = |colouring| match opened.reply(Request::Ask(Ask {
        serial: 1,
        device: 0,
        question: Question::Legend { colouring, at: None },
    })) {
        Reply::Answer { answer: Answer::Legend(entries), .. } => {
            let some = entries.into_iter().filter(|entry| entry.peak_requested > 0);
            some.map(|entry| (entry.label, entry.peak_requested)).collect::<std::collections::BTreeMap<_, _>>()
        }
        other => panic!("expected a legend, got {other:?}"),
    };
    let expected = |entries: &[(&str, u64)]| entries.iter().map(|&(label, bytes)| (label.to_owned(), bytes)).collect();
    assert_eq!(legend(Grouping::Annotation), expected(&[("Annotation1", 2_255_398_132), ("no annotation", 466)]));
    let contexts = [
        ("allocated before recording", 466),
        ("context1", 528_274_631),
        ("context2", 1_212_434_191),
        ("context3", 514_689_310),
    ];
    assert_eq!(legend(Grouping::CompileContext), expected(&contexts));
}

/// Figures of the same range in the range report.
#[test]
fn annotations_and_steps_match_range_report() {
    for words in
        ["--events 4000 --layers 3 --layer-annotations --leak --pending", "--steps 9 --layers 2 --no-annotations"]
    {
        let (mut opened, _) = generated(&format!("{words} --hidden 256 --prerecord-mib 64"));
        let report = report(&mut opened, 0);
        let mut compared = 0;
        for sheet in ["occurrences", "steps"].map(|key| sheet(&report, key)) {
            for row in &sheet.rows {
                let span = row.evidence.as_ref().and_then(|evidence| evidence.span).unwrap();
                let Reply::Answer { answer: Answer::Range(facts), .. } =
                    opened.reply(Request::Ask(Ask { serial: 1, device: 0, question: Question::Range(span) }))
                else {
                    panic!("no facts")
                };
                let keys = [
                    "start_live_bytes",
                    "end_live_bytes",
                    "peak_live_bytes",
                    "requested_bytes",
                    "freed_bytes",
                    "kept_bytes",
                ];
                let RangeFacts {
                    live_at_start: at_begin,
                    live_at_end: at_end,
                    peak,
                    allocated,
                    freed,
                    still_live: kept,
                    ..
                } = facts;
                let expected = [at_begin, at_end, peak, allocated.bytes, freed.bytes, kept.bytes];
                assert_eq!(keys.map(|key| number(sheet, row, key)), expected, "{words}: {row:?}");
                assert_eq!(row.evidence.as_ref().unwrap().moment, Some(facts.peak_moment), "{words}");
                compared += 1;
            }
        }
        assert!(compared >= 9, "{compared}");
    }
}

#[test]
fn sliced_report_equals_unsliced() {
    let (mut opened, _) = generated("--events 9000 --layers 4 --compile-contexts --layer-annotations --leak");
    let whole = report(&mut opened, 0);
    assert_eq!(reported::report_of(reply(&mut opened.engine, report_request(0, Topic::Steps, None, &[]))), whole);
    let no_device = report(&mut opened, 99);
    assert_eq!(no_device, Report { topic: Topic::Steps, ..Report::default() });
}

#[test]
fn timeline_marks_match_report() {
    let mut files: Vec<(Opened, i64)> = vec![
        (generated("--steps 9 --layers 2 --hidden 256 --leak --layer-annotations").0, 0),
        (generated("--events 5000 --ring 2000 --layers 4 --oom --snapshots").0, 0),
    ];
    if let Some(folder) = snapshots() {
        let bytes = std::fs::read(folder.join("train-annotated-100.pickle")).unwrap();
        files.push((open(&bytes).unwrap(), 0));
    }
    for (mut opened, device) in files {
        let report = report(&mut opened, device);
        let sheet = sheet(&report, "occurrences");
        let ask = |what| Request::Ask(Ask { serial: 7, device, question: what });
        let Reply::Answer { answer: Answer::Marks(marks), .. } = opened.reply(ask(Question::Marks)) else { panic!() };
        assert!(sheet.rows.len() > 3);
        let mut marks = marks.ranges.iter();
        for row in &sheet.rows {
            let name = text(sheet, row, "name").trim_end_matches(" (no end)");
            if *reported::cell(sheet, row, "first_event") == Cell::Empty {
                continue;
            }
            let from = number(sheet, row, "first_event");
            let mark = marks.find(|mark| mark.name == name && u64::from(mark.span.from) == from).unwrap();
            let Reply::Answer { answer: Answer::Range(facts), .. } = opened.reply(ask(Question::Range(mark.span)))
            else {
                panic!()
            };
            assert_eq!(facts.span, mark.span);
            let number = |key| number(sheet, row, key);
            let actual = [facts.peak, facts.allocated.bytes, facts.freed.bytes, facts.still_live.bytes];
            assert_eq!(
                actual,
                ["peak_live_bytes", "requested_bytes", "freed_bytes", "kept_bytes"].map(number),
                "{name}"
            );
            assert_eq!(u64::from(mark.span.to), number("last_event") + 1);
            assert_eq!(mark.duration_us, number("duration_us"), "{name}");
        }
    }
}
