//! Unit tests of `src/ui/features/plan.rs`.

use super::words::PlanBasis;
use super::*;
use protocol::{PlanGroup, PlanPage, WhatIf, WhatIfGrade, WhatIfRun};

fn plan(rows: &[(RowSubject, &str)]) -> Plan {
    let mut plan = Plan::default();
    rows.iter().for_each(|(what, by)| plan.add(what.clone(), by));
    plan
}

fn group(name: &str) -> RowSubject {
    RowSubject::Group(name.to_owned())
}

#[test]
fn plan_rows_become_groups_of_request() {
    let rows = [
        (group("activations"), "2x"),
        (RowSubject::Preset(Preset::Fsdp), "8"),
        (RowSubject::Preset(Preset::Checkpoint), ""),
    ];
    let question = plan(&rows).question(None).expect("a plan");
    let factor = |times, by| Factor::new(times, by).expect("a factor");
    let eighth = |name: &str| (PlanGroup::NamedIfAny(name.to_owned()), factor(1, 8));
    assert_eq!(
        question.groups,
        [
            (PlanGroup::Named("activations".to_owned()), factor(2, 1)),
            eighth("optimizer state"),
            eighth("gradient"),
            eighth("parameter"),
            (PlanGroup::Blocks, Factor::ONE),
        ]
    );
    assert_eq!(plan(&[]).question(None), None);
    assert_eq!(plan(&[]).question(Some(7)).expect("a plan").capacity, Some(7), "the largest batch that fits");
    assert_eq!(plan(&[(group(" "), "")]).question(None), None, "an empty row");
}

#[test]
fn invalid_row_has_an_error() {
    for (what, by, error) in [
        (group("relu"), "", "Expected a factor such as 2x, 0.5, /8 or fp32->bf16."),
        (group(""), "2x", "Expected a category or a search."),
        (RowSubject::Preset(Preset::Zero1), "0", "The number is too large or too small."),
        (RowSubject::Preset(Preset::Batch), "-1", "Expected a factor such as 2x, 0.5, /8 or fp32->bf16."),
        (group(""), "", ""),
        (group(">=10MiB"), "1/3", ""),
    ] {
        let plan = plan(&[(what.clone(), by)]);
        assert_eq!(plan.rows[0].error(), error, "{what:?} {by}");
        assert_eq!(plan.question(None).is_none(), !error.is_empty() || by.is_empty(), "{what:?} {by}");
    }
}

#[test]
fn number_of_rows_is_limited() {
    let mut plan = Plan::default();
    (0..99).for_each(|_| plan.add(group("relu"), "2x"));
    assert_eq!(plan.rows.len(), 16);
    assert!(plan.question(None).is_some());
}

#[test]
fn estimate_fits_only_if_its_error_margin_fits() {
    for (planned, given, estimated) in
        [(100, Some(true), None), (84, Some(true), None), (83, Some(true), Some(true)), (121, Some(false), Some(false))]
    {
        assert_eq!(PlanBasis::Given.fits(planned, 100), given, "{planned}");
        assert_eq!(PlanBasis::Estimated.fits(planned, 100), estimated, "{planned}");
        assert_eq!(PlanBasis::AssumedSequence.fits(planned, 100), None, "{planned}");
    }
    let basis = |presets: &[Preset], is_measured| PlanBasis::from_presets(presets.iter().copied(), is_measured);
    assert_eq!(basis(&[], false), PlanBasis::Given);
    assert_eq!(basis(&[Preset::Fsdp], false), PlanBasis::Given);
    assert_eq!(basis(&[Preset::Batch, Preset::Fsdp], false), PlanBasis::Estimated);
    assert_eq!(basis(&[Preset::Sequence, Preset::Batch], false), PlanBasis::AssumedSequence);
    assert_eq!(basis(&[Preset::Sequence], true), PlanBasis::Estimated);
    assert_eq!(basis(&[], true), PlanBasis::Estimated);
}

#[test]
fn largest_batch_has_three_decimals() {
    let page = |max_batch| PlanPage { recorded: (100, 3), planned: (80, 0), max_batch, ..PlanPage::default() };
    let largest_batch =
        |fits| words::facts(&page(fits), Some(90), PlanBasis::Given).pop().expect("the largest batch").1;
    assert_eq!(
        largest_batch(Some((12_034_050, 8))),
        "× 12,034.050 of the recorded one, limited by what is live after event 7"
    );
    assert_eq!(
        largest_batch(Some((999, 0))),
        "× 0.999 of the recorded one, limited by what is live before the first event"
    );
    assert_eq!(largest_batch(Some((0, 4))), "none fits: too much is live after event 3 whatever the batch size");
    assert_eq!(largest_batch(None), "unknown: no activations, temporaries or inputs in this trace");
    let forward_only = PlanPage { lacks_backward: true, ..page(Some((5_940, 8))) };
    assert_eq!(
        words::facts(&forward_only, Some(90), PlanBasis::Given).pop().expect("the largest batch").1,
        "≤ × 5.940 of the recorded one, limited by what is live after event 7; the backward pass was not recorded: \
         training needs ≥ the planned peak"
    );
    let unsure = PlanPage { min_batch: Some((1_250, 6)), ..page(Some((5_940, 8))) };
    assert_eq!(
        words::facts(&unsure, Some(90), PlanBasis::Given).pop().expect("the largest batch").1,
        "≥ × 1.250 of the recorded one, limited by what is live after event 5; ≤ × 5.940 if memory with the size of a \
         parameter, or half of it, does not grow"
    );
    let largest = |min_batch, max_batch| {
        let page = PlanPage { min_batch, ..page(max_batch) };
        words::facts(&page, Some(90), PlanBasis::Given).pop().expect("the largest batch").1
    };
    assert_eq!(
        largest(Some((0, 6)), Some((5, 8))),
        "≤ × 0.005; none fits if memory with the size of a parameter, or half of it, grows"
    );
    assert_eq!(largest(Some((0, 6)), None), "none fits: too much is live after event 5 whatever the batch size");
    assert_eq!(
        largest(Some((1_250, 6)), None),
        "≥ × 1.250 of the recorded one, limited by what is live after event 5; larger if memory with the size of a \
         parameter, or half of it, does not grow"
    );
    let facts = words::facts(&page(None), Some(70), PlanBasis::Given);
    assert_eq!(facts[1].1, "80 B before the first event (−20 B)");
    assert_eq!(facts[2].1, "70 B: 10 B too little");
}

#[test]
fn reserved_text_separates_the_simulator_from_the_sizes() {
    let text = |grade, band| {
        let run = WhatIfRun { peak_reserved: 1 << 30, band, grade, ..WhatIfRun::default() };
        words::reserved_text(&WhatIf { runs: vec![run], ..WhatIf::default() })
    };
    let peak = [1 << 30; 2];
    assert_eq!(
        text(WhatIfGrade::Proved, peak),
        "1.00 GiB with the recorded settings; the simulator reproduces this recording exactly, the sizes are those of \
         the plan"
    );
    assert_eq!(
        text(WhatIfGrade::FromSource, [1 << 30, 2 << 30]),
        "1.00 GiB with the recorded settings (range 1.00–2.00 GiB: the addresses of segments and the memory limit are \
         only partly known); from PyTorch's source, untested here"
    );
    assert_eq!(
        text(WhatIfGrade::DependsOnStart, [1 << 30, 2 << 30]),
        "1.00 GiB with the recorded settings (range 1.00–2.00 GiB: depends on what was allocated before the trace)"
    );
}
