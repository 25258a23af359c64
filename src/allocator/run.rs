//! Simulation of the recorded requests under other settings, with another capacity, other `empty_cache()` calls or
//! other sizes.

mod steps;

use super::blocks::{Block, NONE, State};
use super::counts::Totals;
use super::course::Course;
use super::driver::Driver;
use super::model::Allocator;
use super::plan::{EmptyCache, Outcome, Plan, StartState};
use super::program::Program;
use super::recording::{Place, Recording, Step};
use super::start::keep;
use base::slice::{SliceResult, TimeSlice};

/// A simulation in progress.
#[derive(Clone, Debug)]
pub struct Run {
    allocator: Allocator,
    /// Block id of each allocation, by index.
    blocks: Vec<u32>,
    /// Number of allocations made before recording that have been placed so far.
    placed: usize,
    /// Index of the next step of the recording.
    next: usize,
    live: u64,
    /// Sum of the rounded bytes of live allocations, if they are counted.
    live_rounded: u64,
    counts_rounded: bool,
    until: u32,
    is_planned: bool,
    keeps_curve: bool,
    /// True if a second pass over the trace is due, see [`Run::repeat`].
    is_repeated: bool,
    empty_cache: EmptyCache,
    program: Program,
    /// True if `empty_cache()` is called before some of the events.
    empties_cache: bool,
    /// Positions of the next events in the lists `EmptyCache::Before` and `Program::empty_cache_before`.
    next_empty: [usize; 2],
    /// Index, in [`Findings::waited`](crate::findings::Findings::waited), of the next free that completed in the
    /// recording only because a request waited for it.
    next_waited: usize,
    /// Allocations whose frees are postponed until after the current request, since the request may not have to wait
    /// for them in this run.
    postponed: Vec<u32>,
    has_begun: bool,
    outcome: Outcome,
    course: Option<Course>,
    is_over: bool,
}

impl Run {
    /// Creates a run of the recording under `plan`. Simulation starts with the first call of [`Run::step`].
    pub fn new(recording: &Recording, plan: &Plan) -> Run {
        let is_kept = plan.start == StartState::Kept;
        let driver = Driver::of_run(recording, plan.order, plan.limits.capacity, is_kept);
        let mut allocator = Allocator::new(plan.settings.clone(), plan.backend, plan.limits, driver);
        allocator.traits = recording.traits();
        let blocks = match is_kept {
            true => keep(recording, &mut allocator),
            false => vec![NONE; recording.allocations.len()],
        };
        let early = recording.early.iter().filter(|_| is_kept);
        let sizes = early.map(|early| recording.allocations.at(early.allocation as usize).size);
        let live = sizes.fold(0, u64::saturating_add);
        Run {
            allocator,
            blocks,
            placed: if is_kept { recording.early.len() } else { 0 },
            next: 0,
            live,
            live_rounded: 0,
            counts_rounded: plan.counts_rounded,
            until: plan.until.unwrap_or(u32::MAX),
            is_planned: plan.is_planned,
            keeps_curve: plan.keeps_curve,
            is_repeated: false,
            empty_cache: plan.empty_cache.clone(),
            program: plan.program.clone(),
            empties_cache: matches!(plan.empty_cache, EmptyCache::Before(_))
                || !plan.program.empty_cache_before.is_empty(),
            next_empty: [0; 2],
            next_waited: 0,
            postponed: Vec::new(),
            has_begun: false,
            outcome: Outcome::default(),
            course: None,
            is_over: false,
        }
    }

    /// Continues the simulation until the plan's end or until the time slice is used up.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up.
    pub fn step(&mut self, recording: &Recording, slice: &mut TimeSlice) -> SliceResult {
        while let Some(early) = recording.early.get(self.placed).filter(|_| !self.is_over) {
            slice.tick()?;
            self.placed += 1;
            self.allocate(recording, early.allocation, recording.allocations.at(early.allocation as usize).place, -1);
        }
        if !self.has_begun && !self.is_over {
            self.begin(recording);
        }
        while self.next < recording.steps.len() && !self.is_over {
            slice.tick()?;
            let step = recording.steps.at(self.next);
            if step.event >= self.until {
                break;
            }
            self.next += 1;
            self.take(recording, step);
            self.complete(recording);
            self.note(step.event);
        }
        if std::mem::take(&mut self.is_repeated) && !self.is_over {
            self.rewind(recording);
            return self.step(recording, slice);
        }
        self.outcome.totals = self.allocator.totals;
        self.outcome.exercised = self.allocator.exercised;
        self.outcome.reserved_at_end = self.allocator.totals.reserved;
        Ok(())
    }

    /// Continues a finished run with a second pass over the trace. It starts with the memory that the first pass left
    /// cached. A run that ended early has no second pass.
    pub(crate) fn repeat(&mut self) {
        self.is_repeated = true;
    }

    /// Returns the outcome so far.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Returns the memory curves so far, if the plan requests them.
    pub fn into_course(self) -> Option<Course> {
        self.course
    }

    /// Returns the index of the event at which the run ends early, because a request fails or because one that failed
    /// in the recording succeeds. −1 is before the first event.
    pub fn ends_at(&self) -> Option<i64> {
        self.outcome.avoided_oom.map(i64::from).or(self.outcome.oom_event).filter(|_| self.is_over)
    }

    /// Returns the allocator in its current state.
    pub fn allocator(&self) -> &Allocator {
        &self.allocator
    }

    pub(crate) fn allocator_mut(&mut self) -> &mut Allocator {
        &mut self.allocator
    }

    /// Returns the next step of the recording and advances. The caller must apply the step. Returns `None` at the end
    /// of the run.
    pub(crate) fn next_step(&mut self, recording: &Recording) -> Option<Step> {
        let step = recording.steps.get(self.next).filter(|_| !self.is_over)?;
        self.next += 1;
        Some(step)
    }

    /// Returns the frees that are postponed until after the next request.
    pub(crate) fn postponed(&self) -> &[u32] {
        &self.postponed
    }

    pub(crate) fn is_planned(&self) -> bool {
        self.is_planned
    }

    /// Returns the block of an allocation, if the allocation is live.
    pub fn block(&self, allocation: u32) -> Option<Block> {
        let id = self.blocks.get(allocation as usize).copied().filter(|id| *id != NONE)?;
        Some(*self.allocator.blocks.at(id))
    }

    /// Resets the totals once the allocations made before recording are placed.
    fn begin(&mut self, recording: &Recording) {
        self.has_begun = true;
        let Totals { reserved, allocated, .. } = self.allocator.totals;
        self.allocator.totals = Totals { reserved, allocated, peak_reserved: reserved, ..Totals::default() };
        self.outcome.peak_reserved = reserved;
        self.outcome.allocated_at_peak = allocated;
        self.outcome.peak_allocated = allocated;
        self.outcome.peak_live = self.live;
        if self.counts_rounded {
            let is_live = |number: &u32| self.block(*number).is_some_and(|block| block.state == State::Live);
            let early = recording.early.iter().map(|early| early.allocation).filter(is_live);
            self.live_rounded = early.map(|number| self.rounded(recording, number)).fold(0, u64::saturating_add);
            self.outcome.peak_rounded = self.live_rounded;
        }
        self.outcome.peak_event = -1;
        self.course = self.keeps_curve.then(|| Course::new(recording.events, reserved, allocated));
        if self.program.preallocate > 0 {
            match self.allocator.allocate(self.program.preallocate, Place::default(), NONE) {
                Some(id) => self.allocator.free(id),
                None => (self.outcome.oom_event, self.is_over) = (Some(-1), true),
            }
            self.note(0);
            self.outcome.peak_event = -1;
        }
    }

    /// Returns to the start of the trace. The allocations that are live there are restored, and cached memory is kept.
    fn rewind(&mut self, recording: &Recording) {
        let is_early = |number: usize| number < recording.early_numbers();
        for number in 0..self.blocks.len() {
            let id = self.blocks.get(number).copied().unwrap_or(NONE);
            if id != NONE && !is_early(number) {
                self.complete_free(recording, number as u32);
            }
        }
        for early in &recording.early {
            if self.blocks.get(early.allocation as usize).is_some_and(|id| *id == NONE) {
                let place = recording.allocations.at(early.allocation as usize).place;
                self.allocate(recording, early.allocation, place, -1);
            }
        }
        (self.next, self.next_empty, self.next_waited) = (0, [0; 2], 0);
        self.postponed.clear();
    }

    /// Processes deferred frees that the allocator completed earlier than recorded. Their recorded events are skipped
    /// later.
    #[inline]
    pub(crate) fn complete(&mut self, recording: &Recording) {
        while let Some(number) = self.allocator.completed.pop() {
            if let Some(own) = self.blocks.get_mut(number as usize) {
                *own = NONE;
                self.live = self.live.saturating_sub(recording.size(number, self.is_planned));
            }
        }
    }

    #[inline]
    pub(crate) fn note(&mut self, event: u32) {
        let Totals { reserved, allocated, peak_reserved, .. } = self.allocator.totals;
        let outcome = &mut self.outcome;
        if peak_reserved > outcome.peak_reserved {
            (outcome.peak_reserved, outcome.peak_event) = (peak_reserved, event.into());
            outcome.allocated_at_peak = allocated;
        }
        outcome.peak_allocated = outcome.peak_allocated.max(allocated);
        outcome.peak_live = outcome.peak_live.max(self.live);
        if let Some(course) = &mut self.course {
            course.reserved.add(event, reserved);
            course.allocated.add(event, allocated);
        }
    }
}

#[cfg(test)]
#[path = "../../tests/units/allocator/run.rs"]
mod tests;
