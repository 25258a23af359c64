//! Simulated runs without the recorded addresses, against recordings and a published bug report.

use crate::conf::parse;
use crate::files::{Request, names, program, proved, recordings, reserved_as_recorded, whole};
use crate::recording::{Place, What};
use crate::settings::{MIB, NPU_ADDED, NPU_ALIGNED};
use crate::{Backend, EmptyCache, Limits, Outcome, Plan, Program, Recording, Run, Settings, StartState};

fn run(recording: &Recording, plan: &Plan) -> Run {
    let mut run = Run::new(recording, plan);
    whole(|slice| run.step(recording, slice));
    run
}

fn outcome(recording: &Recording, plan: &Plan) -> Outcome {
    run(recording, plan).outcome().clone()
}

/// Returns the recorded reserved bytes after each event of an allocation.
fn recorded(recording: &Recording) -> Vec<u64> {
    reserved_as_recorded(recording).into_iter().map(|(_, reserved)| reserved).collect()
}

/// Returns the simulated reserved bytes after each event of an allocation.
fn simulated(recording: &Recording, plan: &Plan) -> Vec<u64> {
    let run = run(recording, &Plan { keeps_curve: true, ..plan.clone() });
    let reserved = run.into_course().unwrap().reserved;
    let (mut now, points) = (reserved.at_start(), reserved.points());
    assert!(!points.1, "all changes are kept");
    let mut points = points.0.into_iter().peekable();
    let about = |what| matches!(what, What::Alloc(_) | What::FreeRequested(_) | What::FreeCompleted(_));
    let steps = recording.steps.iter().filter(|step| about(step.what));
    let mut at = |event| {
        while let Some((_, bytes)) = points.next_if(|point| point.0 <= event) {
            now = bytes;
        }
        now
    };
    steps.map(|step| at(step.event)).collect()
}

#[test]
fn reserved_bytes_of_real_files_are_reproduced_without_addresses() {
    for name in names() {
        for recording in recordings(&name).into_iter().flatten() {
            let (recording, proof) = proved(recording);
            if proof.refused.is_some() {
                continue;
            }
            let implied = proof.verdict.implied;
            let limits = implied.limits(implied.limit().map(|[_, high]| high), &proof.settings);
            let plan = Plan {
                settings: proof.settings.clone(),
                backend: proof.backend,
                limits,
                start: StartState::Kept,
                ..Plan::default()
            };
            assert_eq!(simulated(&recording, &plan), recorded(&recording), "{name}");
        }
    }
}

#[test]
fn runs_with_and_without_expandable_segments_predict_each_other() {
    let files = ["no-time-segments-freed.pickle", "no-time-expandable.pickle"].map(recordings);
    let [Some(plain), Some(expandable)] = files else { return };
    let [plain, expandable] = [plain, expandable].map(|recordings| proved(recordings.into_iter().next().unwrap()).0);
    let (plain, expandable) = (&plain, &expandable);
    let backend = Backend { added: NPU_ADDED, aligned: NPU_ALIGNED, ..Backend::default() };
    let plan =
        |expandable| Plan { settings: Settings { expandable, ..Settings::default() }, backend, ..Plan::default() };
    for (from, is_expandable, to) in [(plain, true, expandable), (expandable, false, plain)] {
        let (ours, theirs) = (simulated(from, &plan(is_expandable)), recorded(to));
        let worst = ours.iter().zip(&theirs).map(|(ours, theirs)| ours.abs_diff(*theirs)).max();
        println!("{} requests, {} recorded, off by at most {worst:?}", ours.len(), theirs.len());
        assert_eq!(ours.len(), theirs.len());
        assert_eq!(worst, Some(0), "expandable_segments:{is_expandable}");
    }
}

/// Reproduces the program of the bug report. Each cycle allocates 91 MiB and 45.5 MiB, then 2 MiB that stay live, and
/// frees the first two.
fn fault(cycles: u32) -> Recording {
    let place = Place::default();
    let alloc = |size| Request::Alloc { size, place };
    let mut requests = vec![alloc(64 * MIB)];
    for cycle in 0..cycles {
        let first = 1 + 3 * cycle;
        requests.extend([alloc(91 * MIB), alloc(91 * MIB / 2), alloc(2 * MIB)]);
        requests.extend([Request::Free(first), Request::Free(first + 1)]);
    }
    program(&requests)
}

#[test]
fn expandable_segments_with_max_split_size_grow_as_in_pytorch_report() {
    let settings = |line: &str| parse(line).unwrap().0;
    let both = settings("max_split_size_mb:128,expandable_segments:True");
    let at = |cycle: u32, settings: &Settings, capacity: Option<u64>| {
        let recording = fault(cycle + 1);
        let limits = Limits { capacity, ..Limits::default() };
        outcome(&recording, &Plan { settings: settings.clone(), limits, ..Plan::default() })
    };
    for (cycle, reserved) in [(0, 220), (20, 2980), (40, 5760), (60, 8520), (80, 11300), (100, 14060)] {
        assert_eq!(at(cycle, &both, None).reserved_at_end / MIB, reserved, "cycle {cycle}");
    }
    // 16,000 MiB of the reporter's 16 GiB card could be reserved.
    let capacity = Some(16_000 * MIB);
    assert_eq!(at(114, &both, capacity).totals.retries, 0);
    let retried = at(115, &both, capacity);
    assert_eq!((retried.totals.retries, retried.reserved_at_end / MIB, retried.oom_event), (1, 2680, None));
    assert_eq!(retried.peak_reserved / MIB, 16_000);
    for line in ["max_split_size_mb:128", "expandable_segments:True", ""] {
        let reserved = at(100, &settings(line), None).peak_reserved / MIB;
        assert!(reserved < 500, "{line}: {reserved} MiB");
    }
}

#[test]
fn capacity_and_empty_cache_policy_change_outcome() {
    let place = Place::default();
    let alloc = |size| Request::Alloc { size: size * MIB, place };
    let recording =
        program(&[alloc(30), Request::Free(0), Request::EmptyCache, alloc(40), Request::Free(1), alloc(50)]);
    let plan = |capacity: u64, empty_cache| {
        let limits = Limits { capacity: Some(capacity * MIB), ..Limits::default() };
        Plan { limits, empty_cache, ..Plan::default() }
    };
    let outcome_with = |capacity, empty_cache| outcome(&recording, &plan(capacity, empty_cache));
    let all = outcome_with(200, EmptyCache::AsRecorded);
    assert_eq!((all.peak_reserved / MIB, all.peak_event, all.totals.retries), (90, 5, 0));
    assert_eq!((all.totals.driver_calls(), all.peak_live / MIB), (4, 50));
    assert_eq!(outcome_with(200, EmptyCache::Never).peak_reserved / MIB, 120);
    assert_eq!(outcome_with(200, EmptyCache::Before(vec![1, 3, 5])).peak_reserved / MIB, 50);
    let tight = outcome_with(60, EmptyCache::Never);
    assert_eq!((tight.peak_reserved / MIB, tight.totals.retries, tight.oom_event), (50, 2, None));
    let failed = outcome_with(45, EmptyCache::AsRecorded);
    assert_eq!((failed.oom_event, failed.peak_reserved / MIB), (Some(5), 40));
}

#[test]
fn planned_size_of_zero_removes_allocation() {
    let place = Place::default();
    let mut recording = program(&[30, 40].map(|size| Request::Alloc { size: size * MIB, place }));
    recording.plan([0, 20 * MIB].into_iter());
    let planned = outcome(&recording, &Plan { is_planned: true, ..Plan::default() });
    assert_eq!((planned.peak_live / MIB, planned.peak_reserved / MIB), (20, 20));
    let recorded = outcome(&recording, &Plan::default());
    assert_eq!((recorded.peak_live / MIB, recorded.peak_reserved / MIB), (70, 70));
    // Unchanged sizes and a list of another length are ignored.
    for sizes in [vec![30 * MIB, 40 * MIB], vec![MIB]] {
        recording.plan(sizes.into_iter());
        assert!(recording.planned.is_empty());
    }
}

#[test]
fn sliced_run_has_same_outcome_as_unsliced() {
    let recording = fault(50);
    let plan = Plan { settings: Settings { expandable: true, ..Settings::default() }, ..Plan::default() };
    let mut cut = Run::new(&recording, &plan);
    let (mut calls, mut is_done) = (0, false);
    while !is_done {
        calls += 1;
        is_done = cut.step(&recording, &mut base::slice::TimeSlice::new(&mut || false)).is_ok();
    }
    assert_eq!(*cut.outcome(), outcome(&recording, &plan));
    assert_eq!(calls, 1 + recording.steps.len() / base::slice::STEPS_PER_CHECK as usize);
}

#[test]
fn single_stream_program_reuses_blocks_freed_by_other_streams() {
    let place = |stream| Place { stream, pool: 0 };
    let alloc = |stream| Request::Alloc { size: 30 * MIB, place: place(stream) };
    let requests =
        [alloc(0), Request::Wait(0), alloc(1), Request::Free(0), Request::Wait(1), alloc(0), Request::Free(1)];
    let recording = program(&requests);
    let peak = |program: Program| outcome(&recording, &Plan { program, ..Plan::default() }).peak_reserved / MIB;
    assert_eq!(peak(Program::default()), 60);
    assert_eq!(peak(Program { one_stream: true, ..Program::default() }), 30);
    assert_eq!(peak(Program { no_record_stream: true, ..Program::default() }), 60);
    assert_eq!(peak(Program { preallocate: 100 * MIB, ..Program::default() }), 130);
}

#[test]
fn additional_empty_cache_calls_are_simulated() {
    let alloc = |mib| Request::Alloc { size: mib * MIB, place: Place::default() };
    let requests =
        [alloc(30), Request::Free(0), Request::EmptyCache, alloc(40), Request::Wait(1), alloc(50), Request::Free(1)];
    let recording = program(&requests);
    let run = |empty_cache_before| {
        let program = Program { empty_cache_before, ..Program::default() };
        outcome(&recording, &Plan { program, ..Plan::default() })
    };
    assert_eq!(run(Vec::new()).peak_reserved / MIB, 90);
    let emptied = run(vec![5]);
    assert_eq!((emptied.peak_reserved / MIB, emptied.totals.segment_frees), (50, 2), "it waits for the deferred free");
}
