//! What a recording has of a real file: its requests, and why memory was given back.

use crate::files::{names, recordings};
use crate::recording::What;

#[test]
fn requests_and_operations_are_those_of_the_trace() {
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
fn memory_given_back_without_a_stack_and_a_limit_was_empty_cache() {
    let Some(recordings) = recordings("no-time-segments-freed.pickle") else { return };
    let releases = &recordings[0].releases;
    assert!(!releases.is_empty() && releases.iter().all(|release| release.is_explicit), "{releases:?}");
}
