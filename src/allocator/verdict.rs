//! Result of checking the model against a recording.

use super::counts::Exercised;
use super::findings::Findings;
use super::implied::Implied;
use super::operation::Operation;
use super::settings::Settings;
use base::sorted::{sort, two_part_key};

/// Extent to which the model reproduces a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Number of allocations in the trace.
    pub addresses: u64,
    /// Number of allocations that the model placed at the recorded address.
    pub addresses_equal: u64,
    /// Number of segment operations in the trace.
    pub segment_events: u64,
    /// Number of recorded segment operations that the model also performed.
    pub segment_events_equal: u64,
    /// Number of segment operations that only the model performed.
    pub extra_segment_events: u64,
    /// Number of times that the model and the recording released the same segments in a different order, which has no
    /// effect.
    pub reordered: u64,
    /// Largest difference between recorded and simulated reserved bytes, over all events.
    pub largest_reserved_error: u64,
    pub peak_reserved: u64,
    pub recorded_peak_reserved: u64,
    /// Index of the event at which the model reaches its peak. −1 is before the first event.
    pub peak_event: i64,
    /// Bytes of live blocks at the peak.
    pub allocated_at_peak: u64,
    /// Index of the event of the first failed request in the recording.
    pub oom_event: Option<u32>,
    /// Reserved bytes before the first event that are not in live blocks.
    pub idle_at_start: u64,
    /// Index of the first event at which the model differs from the recording.
    pub departs_at: Option<u32>,
    pub exercised: Exercised,
    /// Number of `empty_cache()` calls.
    pub empty_caches: u64,
    /// Number of requests that were retried.
    pub retries: u64,
    pub implied: Implied,
    pub findings: Findings,
}

impl Verdict {
    /// Returns true if the whole recording was reproduced.
    pub fn is_exact(&self) -> bool {
        self.departs_at.is_none()
            && self.addresses_equal == self.addresses
            && self.segment_events_equal == self.segment_events
            && self.extra_segment_events == 0
            && self.largest_reserved_error == 0
    }

    /// Returns a key to rank settings by. A larger key means that more of the recording is reproduced.
    pub(crate) fn rank(&self) -> (u64, u64, u64) {
        (self.addresses_equal, self.segment_events_equal, u64::MAX - self.largest_reserved_error)
    }
}

/// Returns the number of operations that two lists have in common. Addresses are compared only if `by_address` is true.
pub(super) fn common(one: &[Operation], other: &[Operation], by_address: bool) -> u64 {
    let sorted = |operations: &[Operation]| {
        // Sizes are multiples of 512, so the low bits have room for the kind.
        let address = |it: &Operation| if by_address { it.address } else { 0 };
        let keys = operations.iter().map(|it| (two_part_key(address(it), it.size | it.kind as u64), 0));
        let mut keys: Vec<(u128, u32)> = keys.collect();
        sort(&mut keys);
        keys
    };
    let (one, other) = (sorted(one), sorted(other));
    let (mut count, mut rest) = (0, other.iter().peekable());
    for key in &one {
        while rest.next_if(|other| *other < key).is_some() {}
        count += u64::from(rest.next_if_eq(&key).is_some());
    }
    count
}

/// Name of the rule for frees that wait for other streams.
pub(crate) const DEFERRED: &str = "deferred frees";
/// Description of a rule about completing deferred frees, for the list of rules that a recording does not exercise.
pub(crate) const COMPLETED: &str = "deferred frees completed by a release";
/// Description of a rule about private pools, for the list of rules that a recording does not exercise.
pub(crate) const RETIRED: &str = "release of private pools";
/// Description of rules about private pools that no recording exercises: files do not record which pools have
/// `use_on_oom`, and `no_split` is visible only in blocks that are live at the end.
pub(crate) const NOT_RECORDED: &str = "use_on_oom and no_split of private pools (not recorded)";
/// Description of a rule about failed requests: the file records only their rounded sizes, so their requested sizes are
/// guessed if a run has other rounding settings.
pub(crate) const ROUNDED_FAILURE: &str = "requested bytes of failed requests (recorded rounded)";

/// Returns the descriptions of settings and rules that the recording did not exercise.
pub fn not_exercised(verdict: &Verdict, settings: &Settings) -> Vec<&'static str> {
    let it = &verdict.exercised;
    let rules = [
        ("expandable_segments", settings.expandable && it.pages > 0),
        ("max_split_size", it.unsplit > 0),
        ("roundup_power2_divisions", it.rounded_up > 0),
        ("garbage_collection_threshold", it.collections > 0),
        ("large_segment_size", it.large_segments > 0 || it.pages > 0),
        ("empty_cache", verdict.empty_caches > 0),
        ("retries", it.retries > 0),
        ("other streams", it.streams > 0),
        (DEFERRED, it.awaited > 0),
        (COMPLETED, it.awaited == 0 || it.completed > 0),
        ("private pools", it.private > 0),
        (RETIRED, it.private == 0 || it.retired > 0),
        (NOT_RECORDED, it.private == 0),
        (ROUNDED_FAILURE, verdict.oom_event.is_none() || !settings.rounds_up()),
    ];
    rules.into_iter().filter(|(_, is_exercised)| !is_exercised).map(|(name, _)| name).collect()
}
