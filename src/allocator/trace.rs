//! Step-by-step simulation of a run: the segment operations and addresses at each event, and the segments at the end.

use super::blocks::{NONE, State};
use super::driver::{Driver, Recorded};
use super::operation::Operation;
use super::plan::{Plan, StartState};
use super::recording::{Place, Recording, Step, What};
use super::rounding::rounded;
use super::run::Run;
use base::slice::TimeSlice;
use std::collections::BTreeMap;

/// A run that is simulated step by step.
#[derive(Clone, Debug)]
pub struct Trace {
    run: Run,
    /// Latest address of each allocation, by index.
    addresses: Vec<u64>,
    reserved: Ranges,
}

/// Effects of a step, in the order of a memory trace: completed deferred frees, segment operations, then the step
/// itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deeds {
    /// Allocations whose deferred free completed earlier than recorded: index and address.
    pub completed: Vec<(u32, u64)>,
    /// Allocations whose free completes after the step (index and address). In the recording, it completed before the
    /// step, because the request waited for it.
    pub completed_after: Vec<(u32, u64)>,
    pub operations: Vec<(Operation, Place)>,
    /// Allocation of the step: index and address. `None` if it has no block.
    pub subject: Option<(u32, u64)>,
    /// Rounded bytes of the step's request, if it failed in this run.
    pub failed: Option<u64>,
    /// Address and bytes of the step's request, if it failed in the recording but succeeds in this run.
    pub avoided: Option<(u64, u64)>,
}

/// Segment at the end of a run, or mapped part of an expandable segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub address: u64,
    pub size: u64,
    pub stream: u64,
    pub pool: (u64, u64),
    pub small: bool,
    pub expandable: bool,
    pub blocks: Vec<Placed>,
}

/// A block of a [`Segment`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    pub address: u64,
    pub size: u64,
    pub state: State,
    /// Index of the allocation in the block. `None` if the block is free, or if its request failed in the recording.
    pub allocation: Option<u32>,
}

impl Trace {
    /// Creates a step-by-step simulation. Recorded segments are kept if the plan keeps allocations made before
    /// recording at their addresses. Returns `None` if those allocations do not fit.
    pub fn new(recording: &Recording, plan: &Plan) -> Option<Trace> {
        // New addresses may overlap recorded ones.
        let mut trial = Trace::begin(recording, plan, false)?;
        if plan.start == StartState::Kept && !recording.held.is_empty() {
            let mut deeds = Deeds::default();
            while trial.step(recording, &mut deeds).is_some() {}
            let overlaps = trial.reserved.overlap;
            return Trace::begin(recording, plan, overlaps);
        }
        Some(trial)
    }

    fn begin(recording: &Recording, plan: &Plan, is_above: bool) -> Option<Trace> {
        let mut run = Run::new(recording, &Plan { until: Some(0), ..plan.clone() });
        if is_above {
            let recorded = Recorded::new(std::iter::empty(), recording.above(), plan.limits.capacity);
            run.allocator_mut().driver = Driver::Recorded(recorded);
        }
        // Only early allocations are placed here, which is fast enough without slices.
        let mut always = || true;
        while run.step(recording, &mut TimeSlice::new(&mut always)).is_err() {}
        if run.ends_at().is_some() {
            return None;
        }
        let count = recording.allocations.len();
        let addresses = (0..count).map(|number| run.block(number as u32).map_or(0, |block| block.address)).collect();
        run.allocator_mut().log = Some(Vec::new());
        let mut trace = Trace { run, addresses, reserved: Ranges::default() };
        for segment in trace.segments(recording) {
            trace.reserved.add(segment.address, segment.size);
        }
        Some(trace)
    }

    /// Simulates the next step and stores its effects in `deeds`. Returns `None` at the end of the run.
    pub fn step(&mut self, recording: &Recording, deeds: &mut Deeds) -> Option<Step> {
        let step = self.run.next_step(recording)?;
        let Deeds { completed, mut completed_after, operations, .. } = std::mem::take(deeds);
        completed_after.clear();
        *deeds = Deeds { completed: cleared(completed), operations: cleared(operations), ..Deeds::default() };
        if let What::Alloc(_) = step.what {
            let live = self.run.postponed().iter().filter(|number| self.run.block(**number).is_some());
            let placed = live.filter_map(|&number| Some((number, *self.addresses.get(number as usize)?)));
            completed_after.extend(placed);
        }
        let had_block = match step.what {
            What::FreeRequested(number) | What::FreeCompleted(number) => self.run.block(number).is_some(),
            _ => false,
        };
        self.run.take(recording, step);
        for number in &self.run.allocator_mut().completed {
            deeds.completed.extend(self.addresses.get(*number as usize).map(|address| (*number, *address)));
        }
        completed_after.retain(|(number, _)| !self.run.allocator_mut().completed.contains(number));
        deeds.completed_after = completed_after;
        self.run.complete(recording);
        self.run.note(step.event);
        let allocator = self.run.allocator_mut();
        let log = allocator.log.iter_mut().flat_map(|log| log.drain(..));
        deeds.operations.extend(log.zip(allocator.log_places.drain(..)));
        for (operation, _) in &deeds.operations {
            match operation.kind.grows() {
                true => self.reserved.add(operation.address, operation.size),
                false => self.reserved.remove(operation.address, operation.size),
            }
        }
        match step.what {
            What::Alloc(number) => match self.run.block(number) {
                Some(block) => {
                    self.addresses.get_mut(number as usize).into_iter().for_each(|own| *own = block.address);
                    deeds.subject = Some((number, block.address));
                }
                None if self.run.ends_at().is_some() => {
                    let allocator = self.run.allocator();
                    let size = recording.size(number, self.run.is_planned());
                    deeds.failed = Some(rounded(&allocator.settings, allocator.backend, size));
                }
                None => {}
            },
            What::FreeRequested(number) | What::FreeCompleted(number)
                if had_block && !self.run.postponed().contains(&number) =>
            {
                deeds.subject = self.addresses.get(number as usize).map(|address| (number, *address));
            }
            What::Oom(_) => {
                // The request has a block: the live one without an allocation.
                let is_avoided = self.run.outcome().avoided_oom.is_some();
                let blocks = self.run.allocator().blocks.iter().map(|(_, block)| block);
                let own = blocks.filter(|block| block.state == State::Live && block.allocation == NONE);
                deeds.avoided = own.filter(|_| is_avoided).map(|block| (block.address, block.size)).next();
            }
            _ => {}
        }
        Some(step)
    }

    /// Returns the size that an allocation requests in this run, in bytes.
    pub fn size(&self, recording: &Recording, number: u32) -> u64 {
        recording.size(number, self.run.is_planned())
    }

    /// Returns the underlying run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Returns the reserved segments, ordered by address.
    pub fn segments(&self, recording: &Recording) -> Vec<Segment> {
        let allocator = self.run.allocator();
        let mut segments: Vec<Segment> = Vec::new();
        let mut last = (NONE, 0);
        for block in allocator.blocks() {
            let is_mapped = block.state != State::Unmapped;
            let goes_on = block.previous != NONE && last == (block.range, block.address);
            let end = block.address.saturating_add(block.size);
            last = if is_mapped { (block.range, end) } else { (NONE, 0) };
            if !is_mapped {
                continue;
            }
            let allocation = Some(block.allocation).filter(|number| *number != NONE);
            let placed = Placed { address: block.address, size: block.size, state: block.state, allocation };
            match segments.last_mut().filter(|_| goes_on) {
                Some(segment) => {
                    segment.size = segment.size.saturating_add(block.size);
                    segment.blocks.push(placed);
                }
                None => segments.push(Segment {
                    address: block.address,
                    size: block.size,
                    stream: recording.streams.get(block.stream as usize).copied().unwrap_or(0),
                    pool: recording.pools.get(block.pool as usize / 2).copied().unwrap_or_default(),
                    small: block.pool.is_multiple_of(2),
                    expandable: block.is_expandable(),
                    blocks: vec![placed],
                }),
            }
        }
        segments
    }
}

fn cleared<T>(mut rows: Vec<T>) -> Vec<T> {
    rows.clear();
    rows
}

/// Set of disjoint address ranges.
#[derive(Clone, Debug, Default)]
struct Ranges {
    /// Maps the start of each range to its end.
    ends: BTreeMap<u64, u64>,
    /// True if two added ranges overlap.
    overlap: bool,
}

impl Ranges {
    fn add(&mut self, address: u64, size: u64) {
        let end = address.saturating_add(size);
        let below = self.ends.range(..end).next_back();
        self.overlap |= below.is_some_and(|(_, &other)| other > address);
        self.ends.insert(address, end);
    }

    fn remove(&mut self, address: u64, size: u64) {
        let end = address.saturating_add(size);
        while let Some((from, to)) = self.ends.range(..end).next_back().map(|(from, to)| (*from, *to)) {
            if to <= address {
                return;
            }
            self.ends.remove(&from);
            if from < address {
                self.ends.insert(from, address);
            }
            if to > end {
                self.ends.insert(end, to);
            }
        }
    }
}

#[cfg(test)]
#[path = "../../tests/units/allocator/trace.rs"]
mod tests;
