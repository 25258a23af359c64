//! Check that the model reproduces a recording. The model processes the recorded requests, and its placements and
//! segment operations are compared with the recorded ones.
//!
//! The simulated driver fails where the recording shows that memory ran out, i.e. where segments were released before a
//! request succeeded.

mod request;

use super::blocks::NONE;
use super::chunk::Chunk;
use super::counts::Totals;
use super::driver::{Driver, Script};
use super::findings::{Cause, Findings};
use super::implied::{Attempts, Implied};
use super::model::Allocator;
use super::operation::Operation;
use super::recording::{Recording, Step, What};
use super::rounding::rounded;
use super::settings::{Backend, Limits, Settings};
use super::start::keep;
use super::verdict::{Verdict, common};
use base::slice::{SliceResult, TimeSlice};
use base::sorted::sorted_by_key;

/// Progress of a check.
#[derive(Clone, Debug)]
pub struct Check {
    pub(super) allocator: Allocator,
    /// Block id of each allocation, by index.
    pub(super) blocks: Vec<u32>,
    next: usize,
    /// Segment operations and completed frees since the last request, as indices into [`Recording::steps`].
    chunk: Vec<u32>,
    /// Recorded segment operations that the model is expected to perform next.
    pub(super) script: Vec<Operation>,
    /// Recorded reserved bytes at the current step.
    pub(super) reserved: u64,
    /// Maximum of `reserved` so far.
    pub(super) max_reserved: u64,
    /// True if a deferred free completed since the last request.
    pub(super) has_waited: bool,
    /// True once the recording has shown a free that completed later than it was requested.
    pub(super) has_requested_frees: bool,
    /// Rounded sizes of failed requests, ascending. Each is paired with the requested size of the latest request that
    /// is rounded to it.
    requested: Vec<(u64, u64)>,
    /// Initial age numbers of the segments that exist before the first event.
    pub(super) start_numbers: Vec<u64>,
    /// Number of corrections made to `start_numbers`.
    pub(super) corrections: u32,
    pub(super) findings: Findings,
    pub(super) verdict: Verdict,
}

impl Check {
    /// Creates a check of whether the model reproduces `recording` under these settings.
    pub fn new(recording: &Recording, settings: &Settings, backend: Backend) -> Check {
        let attempts = Attempts::new(recording.reserved_at_start());
        let driver = Driver::Script(Script::new(attempts));
        // Where garbage is collected, the recording shows when.
        let limits = Limits { collect_above: Some(0), ..Limits::default() };
        let mut allocator = Allocator::new(settings.clone(), backend, limits, driver);
        allocator.traits = recording.traits();
        allocator.waited = Some(Vec::new());
        let blocks = keep(recording, &mut allocator);
        allocator.log = Some(Vec::new());
        let reserved = allocator.totals.reserved;
        let (mut now, mut max_reserved) = (reserved, reserved);
        for operation in recording.operations.iter() {
            now = after(now, operation);
            max_reserved = max_reserved.max(now);
        }
        let start_numbers = allocator.start_numbers();
        let sizes = recording.ooms.iter().map(|oom| (rounded(settings, backend, oom.size), oom.size)).collect();
        let mut sizes: Vec<(u64, u64)> = sorted_by_key(sizes, |(rounded, _)| (*rounded).into());
        sizes.dedup_by_key(|(rounded, _)| *rounded);
        let causes = vec![Cause::default(); recording.releases.len()];
        let requested = recording.ooms.iter().map(|oom| oom.size).collect();
        let address_order = recording.address_order();
        let findings = Findings { causes, requested, address_order, ..Findings::default() };
        let Totals { reserved: peak_reserved, allocated, .. } = allocator.totals;
        let verdict = Verdict {
            peak_reserved,
            peak_event: -1,
            allocated_at_peak: allocated,
            idle_at_start: peak_reserved.saturating_sub(allocated),
            ..Verdict::default()
        };
        Check {
            allocator,
            blocks,
            next: 0,
            chunk: Vec::new(),
            script: Vec::new(),
            reserved,
            max_reserved,
            has_waited: false,
            has_requested_frees: false,
            requested: sizes,
            start_numbers,
            corrections: 0,
            findings,
            verdict,
        }
    }

    /// Continues the check until it is complete or the time slice is used up. Returns the verdict.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up.
    pub fn step(&mut self, recording: &Recording, slice: &mut TimeSlice) -> SliceResult<Verdict> {
        while self.next < recording.steps.len() {
            slice.tick()?;
            let at = self.next as u32;
            self.next += 1;
            self.take(recording, at);
        }
        let steps = std::mem::take(&mut self.chunk);
        self.without_request(Chunk { recording, steps: &steps });
        self.verdict.exercised = self.allocator.exercised;
        self.verdict.retries = self.allocator.totals.retries;
        self.verdict.recorded_peak_reserved = self.max_reserved;
        self.verdict.findings = self.findings.clone();
        self.verdict.findings.start_numbers.clone_from(&self.start_numbers);
        self.verdict.implied = self.implied();
        Ok(self.verdict.clone())
    }

    fn implied(&mut self) -> Implied {
        let Allocator { driver, settings, .. } = &mut self.allocator;
        driver.attempts().map(|attempts| attempts.implied(settings)).unwrap_or_default()
    }

    fn take(&mut self, recording: &Recording, at: u32) {
        let step = recording.steps.at(at as usize);
        match step.what {
            What::Alloc(_) | What::Oom(_) => {
                let steps = std::mem::take(&mut self.chunk);
                self.request(step, Chunk { recording, steps: &steps });
                self.chunk = cleared(steps);
            }
            What::FreeRequested(number) => {
                let steps = std::mem::take(&mut self.chunk);
                self.without_request(Chunk { recording, steps: &steps });
                self.chunk = cleared(steps);
                self.has_requested_frees = true;
                if let Some(id) = self.blocks.get(number as usize).copied().filter(|id| *id != NONE) {
                    self.allocator.request_free(id);
                }
            }
            What::FreeCompleted(number) => {
                let is_deferred = self.is_deferred(recording, at, number);
                self.allocator.exercised.awaited += u64::from(is_deferred);
                self.has_waited |= is_deferred;
                self.chunk.push(at);
            }
            What::Grow(operation) => {
                self.record(recording, [operation, operation + 1]);
                self.chunk.push(at);
            }
            What::Release(run) => {
                let Some(release) = recording.releases.get(run as usize) else { return };
                self.record(recording, release.operations);
                self.chunk.push(at);
            }
        }
        // Between a recorded segment and its request the two differ.
        if matches!(step.what, What::Alloc(_) | What::FreeRequested(_)) {
            let simulated = self.allocator.totals.reserved;
            let verdict = &mut self.verdict;
            verdict.largest_reserved_error = verdict.largest_reserved_error.max(simulated.abs_diff(self.reserved));
        }
        let Totals { peak_reserved, allocated, .. } = self.allocator.totals;
        if peak_reserved > self.verdict.peak_reserved {
            self.verdict.peak_reserved = peak_reserved;
            (self.verdict.peak_event, self.verdict.allocated_at_peak) = (step.event.into(), allocated);
        }
    }

    /// Returns true if the free at step `at` completed later than it was requested.
    pub(super) fn is_deferred(&self, recording: &Recording, at: u32, number: u32) -> bool {
        let before = at.checked_sub(1).and_then(|before| recording.steps.get(before as usize));
        self.has_requested_frees && before.is_some_and(|before| before.what != What::FreeRequested(number))
    }

    fn record(&mut self, recording: &Recording, [first, end]: [u32; 2]) {
        for operation in (first..end).filter_map(|at| recording.operations.get(at as usize)) {
            self.verdict.segment_events += 1;
            self.reserved = after(self.reserved, operation);
        }
    }

    /// Completes the recorded free of an allocation.
    pub(super) fn complete(&mut self, number: u32) {
        if let Some(id) = self.take_block(number) {
            self.allocator.free(id);
        }
    }

    /// Removes the block of an allocation whose free completes from the list of blocks, and returns it.
    pub(super) fn take_block(&mut self, number: u32) -> Option<u32> {
        let id = self.blocks.get_mut(number as usize).map_or(NONE, |id| std::mem::replace(id, NONE));
        Some(id).filter(|id| *id != NONE)
    }

    /// Passes the recorded operations to the simulated driver. `succeeds` is true if the next request succeeds.
    pub(super) fn give_script(&mut self, succeeds: bool) {
        if let Driver::Script(script) = &mut self.allocator.driver {
            script.operations.clone_from(&self.script);
            (script.next, script.succeeds) = (0, succeeds);
        }
    }

    fn has_log(&self) -> bool {
        self.allocator.log.as_ref().is_some_and(|log| !log.is_empty())
    }

    pub(super) fn depart(&mut self, event: u32) {
        self.verdict.departs_at.get_or_insert(event);
    }

    /// Counts the operations that the model and the recording have in common. Addresses are compared only until the
    /// first difference.
    pub(super) fn compare(&mut self, step: Step) {
        let done = self.allocator.log.as_mut().map(std::mem::take).unwrap_or_default();
        let recorded = std::mem::take(&mut self.script);
        let is_exact_so_far = self.verdict.departs_at.is_none();
        let equal = match () {
            () if is_exact_so_far && done == recorded => done.len() as u64,
            () if is_exact_so_far && common(&done, &recorded, true) == recorded.len().max(done.len()) as u64 => {
                self.verdict.reordered += 1;
                done.len() as u64
            }
            () => {
                self.depart(step.event);
                common(&done, &recorded, false)
            }
        };
        self.verdict.segment_events_equal += equal;
        self.verdict.extra_segment_events += done.len() as u64 - equal;
        (self.script, self.allocator.log) = (cleared(recorded), Some(cleared(done)));
        self.allocator.log_places.clear();
    }
}

fn after(reserved: u64, operation: Operation) -> u64 {
    match operation.kind.grows() {
        true => reserved.saturating_add(operation.size),
        false => reserved.saturating_sub(operation.size),
    }
}

/// Returns an empty vector that reuses the memory of `rows`.
pub(super) fn cleared<T>(mut rows: Vec<T>) -> Vec<T> {
    rows.clear();
    rows
}

#[cfg(test)]
#[path = "../../tests/units/allocator/check.rs"]
mod tests;
