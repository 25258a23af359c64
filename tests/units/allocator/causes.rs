//! Causes of releases in small traces.

use crate::files::{event, proved, segment, trace, whole};
use crate::findings::Cause;
use crate::settings::MIB;
use crate::{Limits, Outcome, Plan, Proof, Recording, Run};

/// 30 MiB are freed, then 40 MiB are requested. The free completes as late as the request, or before; stacks are in
/// `more`.
fn released(is_deferred: bool, more: &str) -> (Recording, Proof) {
    let freed = event("free_completed", 1, 30, "");
    let mut events = vec![
        event("segment_alloc", 1, 30, ""),
        event("alloc", 1, 30, ""),
        event("free_requested", 1, 30, ""),
        event("segment_free", 1, 30, more),
        event("segment_alloc", 2, 40, ""),
        event("alloc", 2, 40, ""),
    ];
    if is_deferred {
        // Something else is requested between the two.
        let other = [event("segment_alloc", 3, 20, ""), event("alloc", 3, 20, ""), freed];
        events.splice(3..3, other);
        return proved(trace(&[segment(2, 40, true, ""), segment(3, 20, true, "")], &events));
    }
    events.insert(3, freed);
    proved(trace(&[segment(2, 40, true, "")], &events))
}

fn outcome(recording: &Recording, capacity: u64) -> Outcome {
    let limits = Limits { capacity: Some(capacity * MIB), ..Limits::default() };
    let mut run = Run::new(recording, &Plan { limits, ..Plan::default() });
    whole(|slice| run.step(recording, slice));
    run.outcome().clone()
}

#[test]
fn release_before_request_that_would_exceed_peak_is_inferred_as_retry() {
    let (recording, proof) = released(false, "");
    assert!(proof.verdict.is_exact(), "{proof:?}");
    assert_eq!(recording.findings.causes, [Cause::Request]);
    assert_eq!(proof.verdict.implied.limit(), Some([40 * MIB, 70 * MIB - 1]));
    assert_eq!((proof.verdict.retries, proof.verdict.empty_caches), (1, 0));
    // With more memory nothing is released.
    let [tight, roomy] = [69, 70].map(|capacity| outcome(&recording, capacity));
    assert_eq!((tight.peak_reserved / MIB, tight.totals.retries), (40, 1));
    assert_eq!((roomy.peak_reserved / MIB, roomy.totals.retries), (70, 0));
}

#[test]
fn cause_of_release_is_read_from_its_stack() {
    let frames = |name: &str| format!(r#","frames":[{{"name":"{name}","filename":"f","line":1}}]"#);
    let (recording, proof) = released(false, &frames("c10::cuda::CUDACachingAllocator::emptyCache()"));
    assert!(proof.verdict.is_exact() && proof.verdict.implied.limit().is_none());
    assert_eq!(recording.findings.causes, [Cause::EmptyCache { unused_pools: [0, 0] }]);
    assert_eq!(outcome(&recording, 100).peak_reserved / MIB, 40, "the program releases it whatever the limit is");
    let (recording, _) = released(false, &frames("DeviceCachingAllocator::malloc"));
    assert_eq!(recording.findings.causes, [Cause::Request]);
}

#[test]
fn free_completed_by_recorded_retry_completes_later_in_run_without_retry() {
    let (recording, proof) = released(true, "");
    assert!(proof.verdict.is_exact(), "{proof:?}");
    assert_eq!(recording.findings.causes, [Cause::Request]);
    assert_eq!(recording.findings.waited.len(), 1);
    let tight = outcome(&recording, 80);
    assert_eq!((tight.peak_reserved / MIB, tight.totals.retries), (60, 1));
    let roomy = outcome(&recording, 90);
    assert_eq!((roomy.peak_reserved / MIB, roomy.totals.retries), (90, 0));
    assert_eq!(roomy.peak_allocated / MIB, 90, "the request did not wait, so the block was still in use");
    assert_eq!((roomy.totals.allocated / MIB, roomy.reserved_at_end / MIB), (60, 90));
}

#[test]
fn driver_memory_is_inferred_from_failed_request() {
    let free = |bytes: u64| format!(r#","device_free":{bytes}"#);
    let failed = |free: &str| {
        let oom = format!(r#"{{"action":"oom","size":{},"stream":0{free}}}"#, 50 * MIB);
        let events = [event("segment_alloc", 1, 30, ""), event("alloc", 1, 30, ""), oom];
        proved(trace(&[segment(1, 30, true, "")], &events)).1
    };
    let driver = failed(&free(20 * MIB));
    assert!(driver.verdict.is_exact(), "{driver:?}");
    assert_eq!(driver.verdict.implied.limit(), Some([50 * MIB; 2]));
    assert_eq!(driver.verdict.oom_event, Some(2));
    // The driver had enough, so a memory fraction refused.
    let fraction = failed(&free(500 * MIB)).verdict.implied;
    assert_eq!(fraction.limit(), Some([30 * MIB, 80 * MIB - 1]));
}
