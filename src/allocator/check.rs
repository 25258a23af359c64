//! Comparison of the model with a recording. The model receives the recorded requests, and its placements and segment
//! operations are compared with the recorded ones.
//!
//! The driver replays the recording: it refuses memory where segments were given back before the request succeeded.

use super::blocks::NONE;
use super::driver::{Driver, Operation, Script};
use super::model::{Allocator, Exercised};
use super::recording::{Recording, Release, Step, What};
use super::settings::{Backend, Limits, Settings, Share};
use super::start::keep;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_by_key, two_part_key};

/// Result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Allocations in the trace.
    pub addresses: u64,
    /// Allocations that the model placed at the recorded address.
    pub addresses_equal: u64,
    /// Segment operations in the trace.
    pub segment_events: u64,
    /// Segment operations that the model also performed.
    pub segment_events_equal: u64,
    /// Segment operations that only the model performed.
    pub extra_segment_events: u64,
    /// Number of times that both gave back the same segments in different order, which has no effect.
    pub reordered: u64,
    /// Largest difference between recorded and simulated reserved bytes over all events.
    pub largest_reserved_error: u64,
    pub peak_reserved: u64,
    pub recorded_peak_reserved: u64,
    /// First event at which the model diverges.
    pub departs_at: Option<u32>,
    pub exercised: Exercised,
    /// Number of `empty_cache()` calls.
    pub empty_caches: u64,
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

    /// Returns a sort key for comparing settings. The larger it is, the more was reproduced.
    pub(crate) fn rank(&self) -> (u64, u64, u64) {
        (self.addresses_equal, self.segment_events_equal, u64::MAX - self.largest_reserved_error)
    }
}

/// Progress of a check.
#[derive(Clone, Debug)]
pub struct Check {
    allocator: Allocator,
    blocks: Vec<u32>,
    next: usize,
    /// Operations recorded since the last request.
    script: Vec<Operation>,
    reserved: u64,
    /// True if a deferred free was completed since the last request.
    has_waited: bool,
    verdict: Verdict,
}

impl Check {
    /// Creates a check of `recording` under `settings`.
    pub fn new(recording: &Recording, settings: &Settings, backend: Backend) -> Check {
        // Garbage collection needs a limit. The recording does not name it, so the capacity seen in failed requests is
        // used.
        let allowed = (settings.fraction < Share::ALL).then(|| recording.capacity()).flatten();
        let limits = Limits { capacity: None, allowed: Limits::new(allowed, settings).allowed };
        let driver = Driver::Script(Script::default());
        let mut allocator = Allocator::new(settings.clone(), backend, limits, driver);
        allocator.traits = recording.traits();
        let blocks = keep(recording, &mut allocator);
        allocator.log = Some(Vec::new());
        let reserved = allocator.totals.reserved;
        Check {
            allocator,
            blocks,
            next: 0,
            script: Vec::new(),
            reserved,
            has_waited: false,
            verdict: Verdict::default(),
        }
    }

    /// Runs until the verdict is known.
    ///
    /// # Errors
    /// The time is up.
    pub fn step(&mut self, recording: &Recording, slice: &mut TimeSlice) -> SliceResult<Verdict> {
        while self.next < recording.steps.len() {
            slice.tick()?;
            let step = recording.steps.at(self.next);
            self.next += 1;
            self.take(recording, step);
            while let Some(number) = self.allocator.completed.pop() {
                self.blocks.get_mut(number as usize).into_iter().for_each(|own| *own = NONE);
            }
            let is_compared = matches!(step.what, What::Alloc(_) | What::FreeRequested(_) | What::FreeCompleted(_));
            // Between a recorded segment operation and its allocation, the totals differ by design.
            if is_compared {
                let simulated = self.allocator.totals.reserved;
                let verdict = &mut self.verdict;
                verdict.largest_reserved_error = verdict.largest_reserved_error.max(simulated.abs_diff(self.reserved));
                verdict.peak_reserved = verdict.peak_reserved.max(simulated);
                verdict.recorded_peak_reserved = verdict.recorded_peak_reserved.max(self.reserved);
            }
        }
        self.verdict.exercised = self.allocator.exercised;
        Ok(self.verdict.clone())
    }

    fn take(&mut self, recording: &Recording, step: Step) {
        match step.what {
            What::Alloc(number) => {
                self.has_waited = false;
                let allocation = recording.allocations.at(number as usize);
                self.verdict.addresses += 1;
                let place = recording.place(allocation.place);
                let is_alone = self.give_script(true);
                let block = self.allocator.allocate(allocation.size, place, number);
                let is_placed = block.is_some_and(|id| self.allocator.blocks.at(id).address == allocation.address);
                self.verdict.addresses_equal += u64::from(is_placed);
                if let Some(own) = self.blocks.get_mut(number as usize) {
                    *own = block.unwrap_or(NONE);
                }
                if !is_placed {
                    self.depart(step.event);
                }
                if !is_alone || self.has_log() {
                    self.compare(step.event);
                }
            }
            What::FreeRequested(number) => {
                if let Some(id) = self.blocks.get(number as usize).copied().filter(|id| *id != NONE) {
                    self.allocator.request_free(id);
                }
            }
            What::FreeCompleted(number) => {
                let id = self.blocks.get_mut(number as usize).map_or(NONE, |id| std::mem::replace(id, NONE));
                if id != NONE {
                    let before = step_before(recording, self.next);
                    let has_waited = before.is_some_and(|before| before != What::FreeRequested(number));
                    self.allocator.exercised.awaited += u64::from(has_waited);
                    self.has_waited |= has_waited;
                    self.allocator.free(id);
                }
            }
            What::Grow(operation) => self.record(recording, [operation, operation + 1]),
            What::Release(run) => {
                let Some(release) = recording.releases.get(run as usize) else { return };
                self.allocator.exercised.completed += u64::from(std::mem::take(&mut self.has_waited));
                let retired = recording.retired(release);
                retired.iter().for_each(|&pool| self.allocator.retire(pool));
                let is_explicit = self.is_explicit(release);
                self.record(recording, release.operations);
                if is_explicit {
                    self.give_script(true);
                    if release.is_private {
                        retired.iter().for_each(|&pool| self.allocator.release_private(pool));
                    } else {
                        self.verdict.empty_caches += 1;
                        self.allocator.release_cached();
                    }
                    self.compare(step.event);
                }
            }
            What::Oom(number) => {
                let Some(oom) = recording.ooms.get(number as usize) else { return };
                self.give_script(false);
                if let Some(id) = self.allocator.allocate(oom.size, recording.place(oom.place), NONE) {
                    self.allocator.free(id);
                    self.depart(step.event);
                }
                self.compare(step.event);
            }
        }
    }

    /// Returns true if the program released everything cached. A request that releases only a part does so within the
    /// model.
    fn is_explicit(&self, release: &Release) -> bool {
        let settings = &self.allocator.settings;
        let may_be_some = settings.max_split.is_some() || settings.collects();
        if release.is_known || release.is_private { release.is_explicit } else { !(may_be_some && release.grows_after) }
    }

    fn record(&mut self, recording: &Recording, [first, end]: [u32; 2]) {
        for operation in (first..end).filter_map(|at| recording.operations.get(at as usize)) {
            self.script.push(operation);
            self.verdict.segment_events += 1;
            self.reserved = match operation.kind.grows() {
                true => self.reserved.saturating_add(operation.size),
                false => self.reserved.saturating_sub(operation.size),
            };
        }
    }

    /// Passes the recorded operations to the driver. Returns true if there were none.
    fn give_script(&mut self, succeeds: bool) -> bool {
        if let Driver::Script(script) = &mut self.allocator.driver {
            script.operations.clone_from(&self.script);
            (script.next, script.succeeds) = (0, succeeds);
        }
        self.script.is_empty()
    }

    fn has_log(&self) -> bool {
        self.allocator.log.as_ref().is_some_and(|log| !log.is_empty())
    }

    fn depart(&mut self, event: u32) {
        self.verdict.departs_at.get_or_insert(event);
    }

    /// Counts the operations that the model and the recording have in common. Addresses are compared only until the
    /// first divergence.
    fn compare(&mut self, event: u32) {
        let done = self.allocator.log.as_mut().map(std::mem::take).unwrap_or_default();
        let recorded = std::mem::take(&mut self.script);
        let equal = match () {
            () if done == recorded && self.verdict.departs_at.is_none() => done.len() as u64,
            () if self.verdict.departs_at.is_none()
                && common(&done, &recorded, exact) == recorded.len().max(done.len()) as u64 =>
            {
                self.verdict.reordered += 1;
                done.len() as u64
            }
            () => {
                self.depart(event);
                common(&done, &recorded, |operation| Operation { address: 0, ..exact(operation) })
            }
        };
        self.verdict.segment_events_equal += equal;
        self.verdict.extra_segment_events += done.len() as u64 - equal;
        (self.script, self.allocator.log) = (cleared(recorded), Some(cleared(done)));
        self.allocator.log_places.clear();
    }
}

fn exact(operation: &Operation) -> Operation {
    *operation
}

/// Clears the vector and keeps its capacity.
fn cleared(mut operations: Vec<Operation>) -> Vec<Operation> {
    operations.clear();
    operations
}

/// Counts the operations that two lists have in common after mapping each through `seen`.
fn common(one: &[Operation], other: &[Operation], seen: fn(&Operation) -> Operation) -> u64 {
    let sorted = |operations: &[Operation]| {
        // Sizes are multiples of 512, so the low bits have room for the kind.
        let key = |it: &Operation| two_part_key(it.address, it.size | it.kind as u64);
        sorted_by_key(operations.iter().map(seen).collect(), key)
    };
    let (one, other) = (sorted(one), sorted(other));
    let key = |it: &Operation| (it.address, it.size | it.kind as u64);
    let (mut count, mut rest) = (0, other.iter().peekable());
    for operation in &one {
        while rest.next_if(|other| key(other) < key(operation)).is_some() {}
        count += u64::from(rest.next_if(|other| *other == operation).is_some());
    }
    count
}

/// Returns the step before the last one that was taken.
fn step_before(recording: &Recording, next: usize) -> Option<What> {
    next.checked_sub(2).and_then(|before| recording.steps.get(before)).map(|step| step.what)
}

/// Rules that matter only with deferred frees or private pools. Files do not record which pools are `use_on_oom`, and
/// `no_split` shows only in blocks that are live at the end.
pub(crate) const COMPLETED: &str = "deferred frees completed by a release";
pub(crate) const RETIRED: &str = "release of private pools";
pub(crate) const NOT_RECORDED: &str = "use_on_oom and no_split of private pools (not recorded)";

/// Returns the names of settings and rules that the recording did not exercise.
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
        ("deferred frees", it.awaited > 0),
        (COMPLETED, it.awaited == 0 || it.completed > 0),
        ("private pools", it.private > 0),
        (RETIRED, it.private == 0 || it.retired > 0),
        (NOT_RECORDED, it.private == 0),
    ];
    rules.into_iter().filter(|(_, is_exercised)| !is_exercised).map(|(name, _)| name).collect()
}

#[cfg(test)]
#[path = "../../tests/units/allocator/check.rs"]
mod tests;
