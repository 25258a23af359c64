//! What-if questions and answers: curves of runs, caching of finished runs, and plans.

use super::{Simulation, WhatIfQuestion};
use crate::answer::WhatIf;
use crate::course::MAX_POINTS;
use crate::files::{Request, names, program, recordings, reserved_as_recorded};
use crate::recording::Place;
use crate::settings::MIB;
use base::slice::TimeSlice;

/// Returns the answer and the number of clock checks, which is proportional to the work done.
fn answer(simulation: &mut Simulation, question: &WhatIfQuestion) -> (WhatIf, u32) {
    let mut looks = 0;
    simulation.begin();
    let mut has_time = || {
        looks += 1;
        true
    };
    let answer = simulation.answer(question, &mut |_| {}, &mut TimeSlice::new(&mut has_time)).unwrap();
    (answer, looks)
}

fn course_of(line: &str) -> WhatIfQuestion {
    WhatIfQuestion { course: Some(line.to_owned()), ..WhatIfQuestion::default() }
}

#[test]
fn curve_under_recorded_settings_equals_recorded_curve() {
    for name in names() {
        for recording in recordings(&name).into_iter().flatten() {
            let expected = reserved_as_recorded(&recording);
            let mut simulation = Simulation::new(0, recording);
            let (rows, _) = answer(&mut simulation, &WhatIfQuestion::default());
            let Some(row) = rows.runs.first() else { continue };
            assert!(rows.proof.is_exact && rows.course.is_none(), "{name}");
            let (answer, _) = answer(&mut simulation, &course_of(&row.settings));
            let course = answer.course.unwrap();
            assert_eq!((course.settings.as_str(), course.ends_at), (row.settings.as_str(), row.oom_event), "{name}");
            assert!(!course.is_thinned && course.reserved.len() < MAX_POINTS, "{name}");
            let (mut now, mut points) = (course.reserved_at_start, course.reserved.iter().peekable());
            for (event, bytes) in expected {
                while let Some((_, after)) = points.next_if(|point| point.0 <= event) {
                    now = *after;
                }
                assert_eq!(now, bytes, "{name}: event {event}");
            }
            let most = course.reserved.iter().map(|point| point.1).chain([course.reserved_at_start]).max();
            assert_eq!(most, Some(row.peak_reserved), "{name}");
            let at_peak = course.allocated.iter().rfind(|point| i64::from(point.0) <= row.peak_event);
            assert_eq!(at_peak.map_or(course.allocated_at_start, |point| point.1), row.allocated_at_peak, "{name}");
        }
    }
}

#[test]
fn requesting_a_curve_reuses_finished_runs() {
    let Some(recordings) = recordings("train-fp32-1185-segments.pickle") else { return };
    let mut simulation = Simulation::new(0, recordings.into_iter().next().unwrap());
    let question = WhatIfQuestion { tries: true, fits: true, ..WhatIfQuestion::default() };
    let (first, all) = answer(&mut simulation, &question);
    assert_eq!(answer(&mut simulation, &question), (first.clone(), 0));
    for run in &first.runs {
        let question = WhatIfQuestion { course: Some(run.settings.clone()), ..question.clone() };
        let (with_course, looks) = answer(&mut simulation, &question);
        let course = with_course.course.clone().unwrap();
        assert_eq!(WhatIf { course: None, ..with_course }, first);
        assert_eq!(course.reserved.iter().map(|point| point.1).max(), Some(run.peak_reserved), "{}", run.settings);
        assert!(looks * 20 < all, "{looks} of {all}");
    }
    // With less memory than it had, the recorded settings have a row beside the recording, which ends where a request
    // fails.
    let capacity = Some(first.runs[0].peak_reserved / 2);
    let capped = WhatIfQuestion { capacity, course: Some(first.runs[0].settings.clone()), ..WhatIfQuestion::default() };
    let (capped, looks) = answer(&mut simulation, &capped);
    let course = capped.course.unwrap();
    assert!(looks > 0 && course.ends_at.is_some() && course.ends_at == capped.runs[1].oom_event);
    assert!(
        course.reserved.iter().all(|point| Some(i64::from(point.0)) <= course.ends_at && Some(point.1) <= capacity)
    );
    // Settings that PyTorch rejects have no curve.
    assert_eq!(answer(&mut simulation, &course_of("nonsense")).0.course, None);
}

#[test]
fn max_split_size_that_no_block_reaches_is_not_simulated_again() {
    let Some(recordings) = recordings("train-fp32-1185-segments.pickle") else { return };
    let mut simulation = Simulation::new(0, recordings.into_iter().next().unwrap());
    let mut ask = |line: &str| {
        let question = WhatIfQuestion { lines: vec![line.to_owned()], ..WhatIfQuestion::default() };
        let (answer, looks) = answer(&mut simulation, &question);
        let run = answer.runs.last().unwrap().clone();
        assert_eq!(run.settings, line);
        ((run.peak_reserved, run.band, run.driver_calls), looks)
    };
    let (first, looks) = ask("max_split_size_mb:65536");
    assert!(looks > 0);
    assert_eq!(ask("max_split_size_mb:131072"), (first, 0));
    // Some blocks are larger than this.
    assert!(ask("max_split_size_mb:21").1 > 0);
}

#[test]
fn program_without_segments_gives_no_prediction() {
    let recording = program(&[Request::Alloc { size: MIB, place: Place::default() }]);
    let (answer, _) = answer(&mut Simulation::new(0, recording), &course_of("expandable_segments:True"));
    assert!(answer.proof.refused.is_some() && answer.runs.is_empty() && answer.course.is_none());
}

fn bytes(sizes: impl Iterator<Item = u64>) -> Vec<u8> {
    sizes.flat_map(u64::to_le_bytes).collect()
}

#[test]
fn plan_with_recorded_or_zero_sizes_gives_recorded_or_zero_peak() {
    for name in names() {
        for recording in recordings(&name).into_iter().flatten() {
            let sizes: Vec<u64> = recording.allocations.iter().map(|allocation| allocation.size).collect();
            let mut simulation = Simulation::new(0, recording);
            let question =
                WhatIfQuestion { lines: vec!["expandable_segments:True".to_owned()], ..WhatIfQuestion::default() };
            let planned = WhatIfQuestion { is_planned: true, ..question.clone() };
            let (recorded, _) = answer(&mut simulation, &question);
            if recorded.proof.refused.is_some() {
                continue;
            }
            let (unknown, _) = answer(&mut simulation, &planned);
            assert_eq!(unknown.proof.refused.as_deref(), Some("the sizes of the plan are not known"), "{name}");
            assert!(unknown.runs.is_empty(), "{name}");
            simulation.plan(&bytes(sizes.iter().copied()));
            assert_eq!(answer(&mut simulation, &planned).0, recorded, "{name}");
            simulation.plan(&bytes(sizes.iter().map(|size| 2 * size)));
            let (twice, _) = answer(&mut simulation, &planned);
            assert_eq!(twice.proof, recorded.proof, "the proof is about the recorded sizes");
            for (twice, recorded) in twice.runs.iter().zip(&recorded.runs) {
                assert!(twice.peak_reserved > recorded.peak_reserved, "{name}");
            }
            simulation.plan(&bytes(sizes.iter().map(|_| 0)));
            let (nothing, _) = answer(&mut simulation, &planned);
            assert!(
                nothing.runs.iter().all(|run| run.peak_reserved == 0 && run.driver_calls == 0),
                "{name}: {nothing:?}"
            );
            // Answers without the plan are unchanged.
            assert_eq!(answer(&mut simulation, &question).0, recorded, "{name}");
        }
    }
}
