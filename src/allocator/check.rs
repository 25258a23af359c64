//! Check that the model reproduces a recording. It gets the recorded requests, and its placements and segment
//! operations are compared with the recorded ones.
//!
//! The driver follows the recording: it fails where segments were released before the request succeeded.

use super::blocks::NONE;
use super::causes::{Chunk, Decision, Request};
use super::driver::{Driver, Operation, Script};
use super::findings::{Cause, Findings};
use super::implied::{Attempts, Implied};
use super::model::Allocator;
use super::recording::{Recording, Step, What};
use super::rounding::rounded;
use super::settings::{Backend, Limits, SMALL, Settings};
use super::start::keep;
use super::verdict::{Verdict, common};
use base::slice::{Slice, Sliced};
use std::collections::BTreeMap;

/// Progress of a check.
#[derive(Clone, Debug)]
pub struct Check {
    pub(super) allocator: Allocator,
    /// Block of each allocation.
    pub(super) blocks: Vec<u32>,
    next: usize,
    /// Segment operations and completed frees since the last request, as indices of steps.
    chunk: Vec<u32>,
    /// Recorded segment operations that the model has to do next.
    pub(super) script: Vec<Operation>,
    /// Bytes that the recording reserves at the current step, and at most.
    pub(super) reserved: u64,
    pub(super) max_reserved: u64,
    /// True once a free was requested separately from its completion.
    pub(super) has_requested_frees: bool,
    /// Rounded bytes of the failed requests, with the latest requested bytes that are rounded to them.
    requested: BTreeMap<u64, u64>,
    /// Numbers of the segments before the first event.
    pub(super) start_numbers: Vec<u64>,
    /// Number of times that the recording corrected them.
    pub(super) corrections: u32,
    pub(super) findings: Findings,
    pub(super) verdict: Verdict,
}

impl Check {
    /// Creates a check of a recording under these settings.
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
        let sizes = recording.ooms.iter().map(|oom| (rounded(settings, backend, oom.size), oom.size));
        let causes = vec![Cause::default(); recording.releases.len()];
        let requested = recording.ooms.iter().map(|oom| oom.size).collect();
        let findings = Findings { causes, requested, ..Findings::default() };
        Check {
            allocator,
            blocks,
            next: 0,
            chunk: Vec::new(),
            script: Vec::new(),
            reserved,
            max_reserved,
            has_requested_frees: false,
            requested: sizes.collect(),
            start_numbers,
            corrections: 0,
            findings,
            verdict: Verdict::default(),
        }
    }

    /// Works until the verdict is complete.
    ///
    /// # Errors
    /// Returns an error if the slice has no time left.
    pub fn step(&mut self, recording: &Recording, slice: &mut Slice) -> Sliced<Verdict> {
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
        self.verdict.peak_reserved = self.allocator.totals.peak_reserved;
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
    }

    /// Returns true if a free completed some time after it was requested.
    pub(super) fn is_deferred(&self, recording: &Recording, at: u32, number: u32) -> bool {
        let before = at.checked_sub(1).and_then(|before| recording.steps.get(before as usize));
        self.has_requested_frees && before.is_some_and(|before| before.what != What::FreeRequested(number))
    }

    /// Allocates, or fails, as the recording does. The chunk has the steps since the last request.
    fn request(&mut self, step: Step, chunk: Chunk<'_>) {
        let recording = chunk.recording;
        let (requested, place, address) = match step.what {
            What::Alloc(number) => {
                let allocation = recording.allocations.at(number as usize);
                (allocation.size, recording.place(allocation.place), Some(allocation.address))
            }
            What::Oom(number) => {
                let Some(oom) = recording.ooms.get(number as usize) else { return };
                (oom.size, recording.place(oom.place), None)
            }
            _ => return,
        };
        let size = rounded(&self.allocator.settings, self.allocator.backend, requested);
        let pool = self.allocator.pool(place.pool, size <= SMALL);
        let is_alone = chunk.releases().next().is_none();
        let request = Request { size, place, pool, succeeds: address.is_some() };
        let Decision { done, misses } = self.decide_cause(&request, chunk);
        chunk.part(done..chunk.steps.len()).load(&mut self.script);
        self.give_script(request.succeeds);
        self.allocator.retries_private = request.succeeds || !is_alone;
        self.allocator.driver.attempts().into_iter().for_each(Attempts::begin);
        match (step.what, address) {
            (What::Alloc(number), Some(address)) => {
                if !misses {
                    self.learn(&request, address);
                }
                self.requested.get_mut(&size).into_iter().for_each(|last| *last = requested);
                self.verdict.addresses += 1;
                let block = self.allocator.request(requested, place, number, misses);
                let is_placed = block.is_some_and(|id| self.allocator.blocks.at(id).address == address);
                self.verdict.addresses_equal += u64::from(is_placed);
                self.blocks.get_mut(number as usize).into_iter().for_each(|own| *own = block.unwrap_or(NONE));
                if !is_placed {
                    self.depart(step.event);
                }
            }
            (What::Oom(number), _) => {
                self.findings.requested.get_mut(number as usize).into_iter().for_each(|own| {
                    *own = self.requested.get(&size).copied().unwrap_or(*own);
                });
                if let Some(id) = self.allocator.request(requested, place, NONE, misses) {
                    self.allocator.free(id);
                    self.depart(step.event);
                } else {
                    let device_free = recording.ooms.get(number as usize).map_or(0, |oom| oom.device_free);
                    self.allocator.driver.attempts().into_iter().for_each(|attempts| attempts.fail(device_free));
                }
            }
            _ => {}
        }
        // Frees that the request would have waited for.
        self.allocator.wait();
        if !self.script.is_empty() || self.has_log() {
            self.compare(step);
        }
    }

    fn record(&mut self, recording: &Recording, [first, end]: [u32; 2]) {
        for operation in (first..end).filter_map(|at| recording.operations.get(at as usize)) {
            self.verdict.segment_events += 1;
            self.reserved = after(self.reserved, operation);
        }
    }

    /// Completes a recorded free.
    pub(super) fn complete(&mut self, number: u32) {
        if let Some(id) = self.take_block(number) {
            self.allocator.free(id);
        }
    }

    /// Takes the block of an allocation whose free completes.
    pub(super) fn take_block(&mut self, number: u32) -> Option<u32> {
        let id = self.blocks.get_mut(number as usize).map_or(NONE, |id| std::mem::replace(id, NONE));
        Some(id).filter(|id| *id != NONE)
    }

    /// Gives the driver the recorded operations.
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

    /// Counts the operations that the model and the recording share. Addresses count until the first departure.
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

/// Empties a vector and keeps its room.
pub(super) fn cleared<T>(mut rows: Vec<T>) -> Vec<T> {
    rows.clear();
    rows
}

#[cfg(test)]
#[path = "../../tests/units/allocator/check.rs"]
mod tests;
