//! Unit tests of `src/ui/features/what_if.rs`.

use super::*;
use engine::protocol::{
    Tone, WhatIfFit, WhatIfGrade, WhatIfOrigin, WhatIfProgram, WhatIfProof, WhatIfRun, WhatIfWarning,
};

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
        assert_eq!(simulator.typed_capacity(), Ok(bytes), "{text}");
    }
    for text in ["x", "80 KB", "-1", "0", "1e400", "NaN", "80 GiB more", "99999999"] {
        let simulator = Simulator { capacity: text.to_owned(), ..Simulator::default() };
        assert!(simulator.typed_capacity().is_err(), "{text}");
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
    assert_eq!(view::settings_of_row(&simulator, 2).as_deref(), Some("a"));
    assert_eq!(view::settings_of_row(&simulator, 3), None);
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
