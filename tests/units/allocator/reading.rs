//! Conversion of snapshots to recordings: requests, and reasons for released segments.

use crate::files::{Request, names, program, proved, recordings, whole, written};
use crate::findings::Cause;
use crate::recording::{Place, What};
use crate::settings::MIB;
use crate::{EmptyCache, Limits, Plan, Run};

#[test]
fn requests_and_operations_match_trace() {
    for name in names() {
        for recording in recordings(&name).into_iter().flatten() {
            let allocs = recording.steps.iter().filter(|step| matches!(step.what, What::Alloc(_))).count();
            assert_eq!(allocs as u64, recording.requests, "{name}");
            assert!(recording.steps.iter().all(|step| step.event < recording.events), "{name}");
            let sorted = recording.held.windows(2).all(|pair| pair[0].address + pair[0].size <= pair[1].address);
            assert!(sorted, "{name}: segments overlap");
            let grown = recording.steps.iter().filter(|step| matches!(step.what, What::Grow(_))).count();
            let released: u32 = recording.releases.iter().map(|it| it.operations[1] - it.operations[0]).sum();
            assert_eq!(grown + released as usize, recording.operations.len(), "{name}");
        }
    }
}

#[test]
fn release_without_stack_or_limit_is_inferred_as_empty_cache() {
    let Some(recordings) = recordings("no-time-segments-freed.pickle") else { return };
    let (recording, _) = proved(recordings.into_iter().next().unwrap());
    let causes = &recording.findings.causes;
    let is_explicit = |cause: &Cause| matches!(cause, Cause::EmptyCache { .. });
    assert!(!causes.is_empty() && causes.iter().all(is_explicit), "{causes:?}");
}

#[test]
fn release_of_private_pool_marks_it_unused() {
    let (small, large) = (2u64 << 20, 20u64 << 20);
    let event = |action: &str, address: u64, size: u64, pool: u32| {
        format!(r#"{{"action":"{action}","addr":{address},"size":{size},"stream":0,"pool_id":[0,{pool}],"frames":[]}}"#)
    };
    let [one, other, base] = [1u64 << 40, 2 << 40, 3 << 40];
    let events = [
        event("segment_alloc", one, large, 1),
        event("alloc", one, 5000, 1),
        event("segment_alloc", base, small, 0),
        event("alloc", base, 5000, 0),
        event("free_requested", one, 5000, 1),
        event("free_completed", one, 5000, 1),
        // The `MemPool` is destroyed. Later, `empty_cache()` releases segments of two pools.
        event("segment_free", one, large, 1),
        event("segment_alloc", other, small, 2),
        event("alloc", other, 700, 2),
        event("free_requested", other, 700, 2),
        event("free_completed", other, 700, 2),
        event("free_requested", base, 5000, 0),
        event("free_completed", base, 5000, 0),
        event("segment_free", base, small, 0),
        event("segment_free", other, small, 2),
    ];
    // An allocation of 5,000 B comes from a small segment, so the first pool's segment has to be small too.
    let events = events.join(",").replace(&large.to_string(), &small.to_string());
    let recordings = written(&format!(r#"{{"segments":[],"device_traces":[[{events}]]}}"#));
    let (recording, proof) = proved(recordings[0].clone());
    let recording = &recording;
    let cached = Cause::EmptyCache { unused_pools: [0, 1] };
    assert_eq!(recording.findings.causes, [Cause::PoolDestroyed, cached, Cause::Continued]);
    assert_eq!(recording.findings.unused_pools, [2]);
    assert!(proof.verdict.is_exact() && proof.refused.is_none(), "{proof:?}");
    assert!(!proof.not_exercised.contains(&"release of private pools"), "{:?}", proof.not_exercised);
    assert!(proof.not_exercised.contains(&"use_on_oom and no_split of private pools (not recorded)"));
    let plan = |empty_cache| Plan { empty_cache, ..Plan::default() };
    let peak = |empty_cache| {
        let mut run = Run::new(recording, &plan(empty_cache));
        whole(|slice| run.step(recording, slice));
        (run.outcome().peak_reserved, run.outcome().reserved_at_end)
    };
    assert_eq!(peak(EmptyCache::AsRecorded), (2 * small, 0));
    assert_eq!(
        peak(EmptyCache::Never),
        (2 * small, 2 * small),
        "the end of the `MemPool` releases its segment in any case"
    );
}

#[test]
fn completed_free_is_not_completed_twice() {
    let place = Place::default();
    let alloc = |size| Request::Alloc { size: size * MIB, place };
    let requests = [alloc(40), Request::Wait(0), alloc(60), Request::Free(0), Request::Free(1), alloc(30)];
    let recording = program(&requests);
    let limits = Limits { capacity: Some(64 * MIB), ..Limits::default() };
    let mut run = Run::new(&recording, &Plan { limits, ..Plan::default() });
    whole(|slice| run.step(&recording, slice));
    let outcome = run.outcome();
    assert_eq!((outcome.oom_event, outcome.totals.retries, outcome.exercised.completed), (None, 1, 1));
    assert_eq!((outcome.peak_reserved / MIB, outcome.peak_live / MIB, outcome.reserved_at_end / MIB), (60, 60, 60));
}
