//! Unit tests of `src/ui/features/what_if.rs`.

use super::*;
use protocol::{Tone, WhatIfFit, WhatIfGrade, WhatIfLimit, WhatIfLow, WhatIfProof, WhatIfWarning};

fn run(settings: &str, peak_reserved: u64, oom_event: Option<i64>) -> WhatIfRun {
    let band = [peak_reserved; 2];
    WhatIfRun { settings: settings.to_owned(), peak_reserved, oom_event, band, ..WhatIfRun::default() }
}

fn fit(settings: &str, capacity: Option<u64>) -> WhatIfFit {
    WhatIfFit { settings: settings.to_owned(), program: WhatIfProgram::default(), capacity }
}

fn asked(run: WhatIfRun) -> WhatIfRun {
    WhatIfRun { origin: WhatIfOrigin::Asked, grade: WhatIfGrade::FromSource, ..run }
}

fn proof() -> WhatIfProof {
    WhatIfProof { addresses: 8768, addresses_equal: 8768, is_exact: true, ..WhatIfProof::default() }
}

fn of(answer: WhatIf) -> Simulator {
    Simulator { answer: Some(Rc::new(answer)), ..Simulator::default() }
}

#[test]
fn capacity_is_parsed_with_unit() {
    for (text, bytes) in [
        ("", None),
        ("  ", None),
        ("80", Some(80 << 30)),
        ("80 GiB", Some(80 << 30)),
        ("79.25gib", Some((79 << 30) + (1 << 28))),
        ("80GB", Some(80_000_000_000)),
        ("512 MiB", Some(512 << 20)),
        ("1 TiB", Some(1 << 40)),
    ] {
        let simulator = Simulator { capacity: text.to_owned(), ..Simulator::default() };
        assert_eq!(simulator.typed_sizes()[0], Ok(bytes), "{text}");
    }
    for text in ["x", "80 XB", "-1", "0", "1e400", "NaN", "80 GiB more", "99999999"] {
        let simulator = Simulator { capacity: text.to_owned(), ..Simulator::default() };
        assert!(simulator.has_size_error(), "{text}");
    }
}

#[test]
fn merged_replies_have_one_run_per_settings() {
    let before = WhatIf {
        runs: vec![run("r", 10, None), asked(run("a", 7, None))],
        fits: vec![fit("a", Some(8))],
        ..WhatIf::default()
    };
    let mut answer = WhatIf {
        runs: vec![run("r", 10, None), asked(run("r", 10, None)), asked(run("b", 8, None))],
        fits: vec![fit("b", None)],
        ..WhatIf::default()
    };
    merge_runs(&mut answer, Some(&before));
    let names: Vec<&str> = answer.runs.iter().map(|run| run.settings.as_str()).collect();
    assert_eq!(names, ["r", "b", "a"]);
    assert_eq!(answer.runs[0].origin, WhatIfOrigin::Recorded);
    let fits: Vec<&str> = answer.fits.iter().map(|fit| fit.settings.as_str()).collect();
    assert_eq!(fits, ["b", "a"]);
}

#[test]
fn rows_are_sorted_and_show_differences() {
    const GIB: u64 = 1 << 30;
    let mut better = asked(run("expandable_segments:True", 3 * GIB, None));
    (better.allocated_at_peak, better.band, better.avoided_oom) = (GIB * 3 / 2, [2 * GIB, 4 * GIB], Some(99));
    better.warnings = vec![WhatIfWarning::GrowsWithoutBound];
    better.ignored = vec!["pinned_free_catch_all".to_owned()];
    let runs = vec![run("a", 4 * GIB, Some(99)), asked(run("b", GIB, Some(-1))), better];
    let fits = [("a", Some(5 * GIB)), ("b", None), ("c", Some(3 * GIB))];
    let fits = fits.map(|(settings, capacity)| fit(settings, capacity)).to_vec();
    let answer = WhatIf { proof: proof(), runs, fits, capacity: Some(4 * GIB), ..WhatIf::default() };
    let simulator = of(answer);
    let view = view::view(&simulator, &Shared::default());
    assert_eq!(view.proof[0].0, Tone::Good);
    assert!(view.proof[0].1.contains("8,768 of 8,768 addresses"), "{:?}", view.proof);
    let rows: Vec<(&str, bool, &str, Option<u32>)> = view
        .rows
        .iter()
        .map(|row| (row.settings.as_str(), row.is_out_of_memory, row.oom.as_str(), row.oom_moment))
        .collect();
    assert_eq!(
        rows,
        [
            ("expandable_segments:True", false, "avoided at event 99", Some(100)),
            ("b", true, "before event 0", Some(0)),
            ("a", true, "event 99", Some(100)),
        ]
    );
    let shown: Vec<&str> = view.rows[0].numbers.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(shown, ["3.00 GiB", "−1.00 GiB", "2.00–4.00 GiB", "50.0 %", "0", "0"]);
    assert_eq!(view.rows[0].numbers[0].1, "3,221,225,472 B");
    assert_eq!(view.rows[2].numbers[1].0, "recorded", "the row of the recorded settings");
    let fits: Vec<[&str; 3]> =
        view.fits.iter().map(|fit| [fit.memory.as_str(), fit.settings.as_str(), fit.shortage.as_str()]).collect();
    assert_eq!(
        fits,
        [["3.00 GiB", "c", ""], ["5.00 GiB", "a", "1.00 GiB more than there is"], ["No memory is enough", "b", ""]]
    );
    let texts: Vec<&str> = view.findings.iter().map(|(_, text)| text.as_str()).collect();
    assert!(texts[0].starts_with("The out-of-memory error would not have happened with expandable_segments:True"));
    assert!(texts.contains(&"Without effect on the simulation: pinned_free_catch_all."), "{texts:?}");
    assert!(view.findings.iter().any(|(tone, text)| *tone == Tone::Alarm && text.contains("can grow without bound")));
    assert_eq!(view::run_of_row(&simulator, 2).map(|run| run.settings.as_str()), Some("a"));
    assert_eq!(view::run_of_row(&simulator, 3), None);
}

/// A run whose result with the lowest limit differs: its peak, retries and OOM.
fn with_low(run: WhatIfRun, peak_reserved: u64, retries: u64, oom_event: Option<i64>) -> WhatIfRun {
    WhatIfRun { low: Some(WhatIfLow { peak_reserved, retries, oom_event, ..WhatIfLow::default() }), ..run }
}

#[test]
fn run_is_described_by_both_ends_of_limit() {
    let unsure = with_low(WhatIfRun { retries: 2, ..asked(run("a", 9, None)) }, 8, 3, Some(1700));
    assert_eq!((words::retries(&unsure).as_str(), words::oom(&unsure).as_str()), ("2–3", "may fail: event 1,700"));
    assert_eq!(words::oom_rank(&unsure), 1);
    let fails = with_low(asked(run("a", 9, Some(1800))), 8, 0, Some(1700));
    assert_eq!((words::retries(&fails).as_str(), words::oom(&fails).as_str()), ("0", "event 1,700 or event 1,800"));
    let rows =
        view::view(&of(WhatIf { proof: proof(), runs: vec![unsure, fails], ..WhatIf::default() }), &Shared::default())
            .rows;
    assert_eq!(
        rows.iter().map(|row| (row.is_out_of_memory, row.oom_moment)).collect::<Vec<_>>(),
        [(false, Some(1701)), (true, Some(1801))]
    );
}

#[test]
fn findings_have_no_verdict_where_limits_disagree() {
    const GIB: u64 = 1 << 30;
    let limit = Some(WhatIfLimit { low: 8 * GIB, high: 9 * GIB, is_fraction: false });
    let answer = WhatIf { limit, capacity: Some(9 * GIB), is_capacity_recorded: true, ..WhatIf::default() };
    let findings = |runs| words::findings(&WhatIf { runs, ..answer.clone() });
    let between = "The recording shows a limit of the device's memory between 8.00 GiB and 9.00 GiB: the other rows are simulated with both.";

    let unsure = with_low(asked(run("a", 7 * GIB, None)), 7 * GIB, 0, Some(5));
    let oom = run("r", 8 * GIB, Some(9));
    assert_eq!(
        findings(vec![oom.clone(), unsure.clone()]),
        ["The exact limit decides whether a avoids the out-of-memory error.", between]
    );
    let fails = asked(run("b", 8 * GIB, Some(9)));
    assert_eq!(findings(vec![oom.clone(), fails.clone()])[0], "None of these settings avoids the out-of-memory error.");
    let survives = asked(run("c", 6 * GIB, None));
    let texts = findings(vec![oom, unsure.clone(), fails, survives]);
    assert!(
        texts[0].starts_with("The out-of-memory error would not have happened with c; least memory with c."),
        "{texts:?}"
    );

    // Without an OOM, both ends have to be lower.
    let recorded = run("r", 8 * GIB, None);
    assert_eq!(findings(vec![recorded.clone(), unsure]), [between]);
    let lower = with_low(asked(run("a", 7 * GIB, None)), 6 * GIB, 0, None);
    let texts = findings(vec![recorded.clone(), lower]);
    assert_eq!(texts[0], "a lowers the peak of reserved memory by 1.00–2.00 GiB (25.0 %) to 6.00–7.00 GiB.");
    let partly = with_low(asked(run("a", 9 * GIB, None)), 6 * GIB, 0, None);
    let texts = findings(vec![recorded.clone(), partly]);
    assert_eq!(texts[0], "The exact limit decides whether a lowers the peak of reserved memory.");

    let contradictory = WhatIf { has_contradictory_limits: true, ..WhatIf::default() };
    let runs = vec![run("r", 8 * GIB, Some(9)), asked(run("a", 7 * GIB, None))];
    let [text] = &words::findings(&WhatIf { runs, ..contradictory })[..] else { panic!("one sentence") };
    assert!(text.starts_with("No single limit explains the requests that failed"), "{text}");
}

#[test]
fn other_settings_are_compared_with_run_under_named_memory() {
    const GIB: u64 = 1 << 30;
    let named = |runs| words::findings(&WhatIf { runs, capacity: Some(4 * GIB), ..WhatIf::default() });
    let recorded = run("r", 8 * GIB, None);
    let too_small = asked(run("r", 4 * GIB, Some(3)));
    let texts = named(vec![recorded.clone(), too_small.clone(), asked(run("a", 4 * GIB, Some(2)))]);
    assert_eq!(texts, ["None of these settings avoids the out-of-memory error.", "Device memory: 4.00 GiB."]);
    let texts = named(vec![recorded.clone(), too_small, asked(run("a", 3 * GIB, None))]);
    assert_eq!(texts[0], "The out-of-memory error does not happen with a; least memory with a.");

    // With more memory than the recording had, its own settings avoid the OOM.
    let oom = run("r", 3 * GIB, Some(9));
    let enough = asked(run("r", 4 * GIB, None));
    let texts = named(vec![oom, enough.clone()]);
    assert!(texts[0].starts_with("The out-of-memory error would not have happened with r; least memory with r."));
    // The run under other memory is listed although its settings are the recorded ones.
    let mut answer = WhatIf { runs: vec![run("r", 3 * GIB, Some(9)), enough], ..WhatIf::default() };
    merge_runs(&mut answer, None);
    assert_eq!(answer.runs.len(), 2);
}

#[test]
fn changed_program_is_a_row_of_its_own() {
    let program = WhatIfProgram { one_stream: true, preallocate: 1 << 31, ..WhatIfProgram::default() };
    let changed = WhatIfRun { program, ..asked(run("r", 7, None)) };
    let before = WhatIf { runs: vec![run("r", 10, None), changed], ..WhatIf::default() };
    let mut answer = WhatIf { runs: vec![run("r", 10, None)], proof: proof(), ..WhatIf::default() };
    merge_runs(&mut answer, Some(&before));
    let rows = view::view(&of(answer), &Shared::default()).rows;
    let names: Vec<[&str; 3]> = rows.iter().map(|row| [row.name.as_str(), &row.settings, &row.program]).collect();
    let changes = "one stream, 2.00 GiB allocated first";
    assert_eq!(names, [["r with one stream, 2.00 GiB allocated first", "r", changes], ["r", "r", ""]]);
}

#[test]
fn rejected_recording_shows_no_predictions() {
    let refused = Some("520 of 520 addresses lie in no segment".to_owned());
    let proof = WhatIfProof { refused, ..WhatIfProof::default() };
    let view =
        view::view(&of(WhatIf { proof, runs: vec![run("a", 1, None)], ..WhatIf::default() }), &Shared::default());
    assert_eq!(view.proof, [(Tone::Alarm, "No prediction: 520 of 520 addresses lie in no segment.".to_owned())]);
    assert!(!view.predicts && view.rows.is_empty() && view.findings.is_empty());
}
