//! Simulation of the recorded requests under other settings, with another capacity, other `empty_cache()` calls or
//! other sizes.

use super::blocks::{Block, NONE};
use super::course::Course;
use super::driver::{Driver, Order};
use super::model::{Allocator, Exercised, Totals};
use super::recording::{Recording, Step, What};
use super::settings::{Backend, Limits, Settings};
use super::start::keep;
use base::slice::{SliceResult, TimeSlice};

/// Placement of early allocations, i.e. those made before the first event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartState {
    /// Placed again under the run's settings, in address order.
    #[default]
    Fresh,
    /// Kept at their recorded addresses.
    Kept,
}

/// Calls of `empty_cache()` in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EmptyCache {
    #[default]
    AsRecorded,
    Never,
    /// Only before these events, ascending.
    Before(Vec<u32>),
}

/// Assumptions of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    pub settings: Settings,
    pub backend: Backend,
    pub limits: Limits,
    pub order: Order,
    pub start: StartState,
    pub empty_cache: EmptyCache,
    /// First event that is not simulated. `None` runs to the end.
    pub until: Option<u32>,
    /// True to use the sizes in [`Recording::planned`].
    pub is_planned: bool,
    /// True to record the curves.
    pub keeps_curve: bool,
}

/// Result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub peak_reserved: u64,
    /// Index of the first event after which the peak is reached. −1 if it is reached before the first event.
    pub peak_event: i64,
    /// Bytes of live blocks at the peak. The rest of the peak is fragmentation.
    pub allocated_at_peak: u64,
    /// Maximum bytes of live blocks.
    pub peak_allocated: u64,
    /// Maximum requested bytes of live allocations.
    pub peak_live: u64,
    pub totals: Totals,
    pub exercised: Exercised,
    /// Event of the request that failed. −1 if the early allocations do not fit.
    pub oom_event: Option<i64>,
    /// Event of a request that failed in the recording but succeeds here. The program would have continued differently.
    pub avoided_oom: Option<u32>,
    pub reserved_at_end: u64,
}

/// A simulated run.
#[derive(Clone, Debug)]
pub struct Run {
    allocator: Allocator,
    /// Block of each allocation, by number.
    blocks: Vec<u32>,
    /// Number of early allocations that are placed.
    placed: usize,
    /// Next step of the recording.
    next: usize,
    live: u64,
    until: u32,
    is_planned: bool,
    keeps_curve: bool,
    empty_cache: EmptyCache,
    next_empty: usize,
    outcome: Outcome,
    course: Option<Course>,
    is_over: bool,
}

impl Run {
    /// Creates a run that has not started.
    #[inline(never)]
    pub fn new(recording: &Recording, plan: &Plan) -> Run {
        let driver = Driver::new(plan.order, plan.limits.capacity);
        let mut allocator = Allocator::new(plan.settings.clone(), plan.backend, plan.limits, driver);
        allocator.traits = recording.traits();
        let is_kept = plan.start == StartState::Kept;
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
            until: plan.until.unwrap_or(u32::MAX),
            empty_cache: plan.empty_cache.clone(),
            next_empty: 0,
            outcome: Outcome::default(),
            is_planned: plan.is_planned,
            keeps_curve: plan.keeps_curve,
            course: None,
            is_over: false,
        }
    }

    /// Runs until the end of the plan.
    ///
    /// # Errors
    /// The time is up.
    #[inline(never)]
    pub fn step(&mut self, recording: &Recording, slice: &mut TimeSlice) -> SliceResult {
        while let Some(early) = recording.early.get(self.placed).filter(|_| !self.is_over) {
            slice.tick()?;
            self.placed += 1;
            self.allocate(recording, early.allocation, recording.allocations.at(early.allocation as usize).place, -1);
        }
        if self.next == 0 && !self.is_over {
            self.begin(recording.events);
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
        self.outcome.totals = self.allocator.totals;
        self.outcome.exercised = self.allocator.exercised;
        self.outcome.reserved_at_end = self.allocator.totals.reserved;
        Ok(())
    }

    /// Returns the outcome so far.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Returns the curves so far, if the plan asked for them.
    pub fn into_course(self) -> Option<Course> {
        self.course
    }

    /// Returns the event that ends the run before the end of the recording, because a request fails or an out of memory
    /// is avoided. −1 is before the first event.
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

    pub(crate) fn is_planned(&self) -> bool {
        self.is_planned
    }

    /// Returns the block of a live allocation.
    pub fn block(&self, allocation: u32) -> Option<Block> {
        let id = self.blocks.get(allocation as usize).copied().filter(|id| *id != NONE)?;
        Some(*self.allocator.blocks.at(id))
    }

    /// Resets the counters after the early allocations are placed.
    fn begin(&mut self, events: u32) {
        let Totals { reserved, allocated, .. } = self.allocator.totals;
        self.allocator.totals = Totals { reserved, allocated, ..Totals::default() };
        self.outcome.peak_reserved = reserved;
        self.outcome.allocated_at_peak = allocated;
        self.outcome.peak_allocated = allocated;
        self.outcome.peak_live = self.live;
        self.outcome.peak_event = -1;
        self.course = self.keeps_curve.then(|| Course::new(events, reserved, allocated));
    }

    #[inline]
    pub(crate) fn take(&mut self, recording: &Recording, step: Step) {
        if let EmptyCache::Before(events) = &self.empty_cache {
            let mut is_due = false;
            while events.get(self.next_empty).is_some_and(|&event| event <= step.event) {
                (self.next_empty, is_due) = (self.next_empty + 1, true);
            }
            if is_due {
                self.allocator.release_cached();
            }
        }
        match step.what {
            What::Alloc(number) => {
                let place = recording.allocations.at(number as usize).place;
                self.allocate(recording, number, place, step.event.into());
            }
            What::FreeRequested(number) => {
                if let Some(&id) = self.blocks.get(number as usize).filter(|id| **id != NONE) {
                    self.allocator.request_free(id);
                }
            }
            What::FreeCompleted(number) => {
                let id = self.blocks.get_mut(number as usize).map_or(NONE, |id| std::mem::replace(id, NONE));
                if id != NONE {
                    self.live = self.live.saturating_sub(recording.size(number, self.is_planned));
                    self.allocator.free(id);
                }
            }
            What::Release(run) => {
                let Some(release) = recording.releases.get(run as usize) else { return };
                let retired = recording.retired(release);
                retired.iter().for_each(|&pool| self.allocator.retire(pool));
                if release.is_explicit && release.is_private {
                    for &pool in retired {
                        self.allocator.complete_frees(Some(pool));
                        self.allocator.release_private(pool);
                    }
                } else if release.is_explicit && self.empty_cache == EmptyCache::AsRecorded {
                    self.allocator.release_cached();
                }
            }
            What::Oom(number) => {
                let Some(oom) = recording.ooms.get(number as usize) else { return };
                match self.allocator.allocate(oom.size, recording.place(oom.place), NONE) {
                    // From here on the program would have behaved differently.
                    Some(_) => (self.outcome.avoided_oom, self.is_over) = (Some(step.event), true),
                    None => {
                        self.outcome.oom_event.get_or_insert(step.event.into());
                    }
                }
            }
            What::Grow(_) => {}
        }
    }

    /// Processes deferred frees that the allocator completed early. Their recorded events are skipped later.
    #[inline]
    pub(crate) fn complete(&mut self, recording: &Recording) {
        while let Some(number) = self.allocator.completed.pop() {
            if let Some(own) = self.blocks.get_mut(number as usize) {
                *own = NONE;
                self.live = self.live.saturating_sub(recording.size(number, self.is_planned));
            }
        }
    }

    fn allocate(&mut self, recording: &Recording, number: u32, place: u32, event: i64) {
        let size = recording.size(number, self.is_planned);
        if size == 0 {
            return;
        }
        match self.allocator.allocate(size, recording.place(place), number) {
            Some(id) => {
                if let Some(own) = self.blocks.get_mut(number as usize) {
                    *own = id;
                }
                self.live = self.live.saturating_add(size);
            }
            None => (self.outcome.oom_event, self.is_over) = (Some(event), true),
        }
    }

    #[inline]
    pub(crate) fn note(&mut self, event: u32) {
        let Totals { reserved, allocated, .. } = self.allocator.totals;
        let outcome = &mut self.outcome;
        if reserved > outcome.peak_reserved {
            (outcome.peak_reserved, outcome.peak_event) = (reserved, event.into());
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
