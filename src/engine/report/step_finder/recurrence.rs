//! Finds the steps of a trace without annotations, in linear time. The starts of the steps are the allocations of a
//! call stack that allocates at even intervals.
//!
//! A stack is called even if it spans at least half of all allocations (an eighth if it allocates two or three times,
//! because few steps may be shorter than what comes before the loop), and its intervals (counted in allocations) have a
//! standard deviation of at most a quarter of their mean, or half the mean if there are only two. With more than two
//! intervals, the first is ignored, because it contains one-time allocations. A stack that allocates twice has one
//! interval, which is even.
//!
//! The candidates for the number of steps are the counts that at least three even stacks share: counts that more stacks
//! share are tried first, and then smaller counts. Two is tried last. A stack agrees with a candidate if their counts
//! differ by at most one, because the trace may start and end within a step. Two needs equal counts.
//!
//! Only agreeing stacks with the same outermost function are compared with each other: those of the function that most
//! of them have. This may be the module of a script, whose loop calls them on different lines. A candidate is rejected
//! if what repeats is a part of a step, such as a layer or a parameter:
//!
//! - the Python frames that the stacks share are inside a `forward`, an optimizer or the backward pass, or they share
//!   only such a function,
//! - the model is constructed or loaded: no stack calls it, and they share a function that does so, or free nothing,
//! - or the trace has a backward pass, but fewer than half of the steps would contain a part of that pass. Of two
//!   steps, both must contain one.
//!
//! A step starts at each allocation of one agreeing stack: the one with the fewest live bytes before its second
//! allocation. With gradient accumulation, these steps are passes, see `accumulation.rs`.

mod occurrences;
mod partial_step;
mod roots;

use super::optimizer_steps::OptimizerSteps;
use super::rule::{StepRule, Steps};
use crate::backward_stacks::BackwardStacks;
use crate::phases::PhaseStacks;
use base::column::Column;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::sorted_numbers;
use base::units::{EventIdx, Moment};
use hashbrown::HashMap;
use history::replay::DeviceHistory;
use history::snapshot::{Action, Snapshot, StackId};
use occurrences::Occurrences;
use partial_step::is_last_partial;
use protocol::{Span, StepPhase};
use roots::Roots;

/// Number of even stacks that are compared in one batch. The cost of a batch is subtracted from the time slice in
/// advance.
const STACKS_PER_BATCH: u32 = 128;
/// Minimum number of stacks that must agree with a candidate for the number of steps.
const MIN_AGREEING: u32 = 3;
/// Maximum number of candidates for which all events are examined.
const MAX_PASSES: u32 = 8;

/// Search for steps by call stacks that repeat at even intervals.
#[derive(Default)]
pub(super) struct Recurrence {
    next_event: u32,
    allocation_count: u32,
    /// Maps each stack to a 1-based index into `seen`. 0 if the stack has not allocated yet. A vector is faster than a
    /// hash table.
    seen_index: Column<u32>,
    seen: Vec<(StackId, Occurrences)>,
    even_stacks: Option<Vec<(StackId, Occurrences)>>,
    /// Candidates for the number of steps. The last one is tried next.
    candidates: Vec<u32>,
    /// Number of even stacks that were compared with the current candidate. `roots` has those that agree.
    compared: usize,
    roots: Roots,
    /// Stack that starts the steps of the current candidate, while all events are examined.
    anchor: Option<StackId>,
    passes: u32,
    backward: BackwardStacks,
    /// Rule for the current candidate, and for the first rejected one.
    rule: StepRule,
    repeats: Option<StepRule>,
    is_done: bool,
    steps: Steps,
    step_lengths: Vec<u32>,
    /// True for each step that contains a part of the backward pass.
    has_backward: Vec<bool>,
    is_backward_recorded: bool,
    phases: PhaseStacks,
    /// True for each step that contains a part of an optimizer step.
    has_optimizer: Vec<bool>,
    /// True if an optimizer step follows the backward pass of the last step.
    ends_with_optimizer: bool,
    optimizer_steps: OptimizerSteps,
}

impl Recurrence {
    /// Continues searching until the steps are found or the time slice is used up.
    pub(super) fn step(&mut self, snapshot: &Snapshot, history: &DeviceHistory, slice: &mut TimeSlice) -> SliceResult {
        let count = history.event_count();
        if self.even_stacks.is_none() && self.seen_index.is_empty() {
            self.seen_index = (0..snapshot.stacks.len()).map(|_| 0).collect();
        }
        while self.even_stacks.is_none() {
            slice.tick()?;
            if self.next_event < count {
                self.record_event(history);
            } else {
                self.find_candidates();
            }
        }
        self.backward.step(snapshot, slice)?;
        self.phases.step(snapshot, slice)?;
        while !self.is_done {
            match self.anchor {
                None => {
                    slice.spend(16 * STACKS_PER_BATCH)?;
                    self.try_candidate(snapshot, history);
                }
                Some(anchor) => {
                    for event in self.next_event..count {
                        slice.tick()?;
                        self.next_event += 1;
                        self.divide(history, anchor, event);
                    }
                    slice.tick()?;
                    self.finish_pass();
                }
            }
        }
        if self.steps.spans.is_empty() {
            let Recurrence { optimizer_steps, phases, backward, .. } = self;
            let spans = optimizer_steps.step((snapshot, history), phases, backward, slice)?;
            if !spans.is_empty() {
                self.steps = Steps { spans, rule: StepRule::Optimizer, ..Steps::default() };
            }
        }
        Ok(())
    }

    /// Returns the stacks of the backward pass. Must only be called when the search is complete.
    pub(super) fn backward(&self) -> &BackwardStacks {
        &self.backward
    }

    /// Returns the steps, and whether each contains a part of an optimizer step. Must only be called when the search is
    /// complete.
    pub(super) fn found(&mut self) -> (&mut Steps, &mut Vec<bool>) {
        (&mut self.steps, &mut self.has_optimizer)
    }

    fn record_event(&mut self, history: &DeviceHistory) {
        let event = self.next_event;
        self.next_event += 1;
        if history.events.action(event) == Action::Alloc {
            let stack = history.events.stack(event);
            if stack != StackId::NONE && stack != StackId::EMPTY {
                let now = self.allocation_count;
                let id = history.allocation_of(EventIdx(event));
                let is_freed = id.is_some_and(|id| history.allocations.freed_at(id).is_some());
                let number = self.seen_index.get(stack.0 as usize).unwrap_or(0);
                match number.checked_sub(1).and_then(|index| self.seen.get_mut(index as usize)) {
                    Some((_, seen)) => seen.add(now, event, is_freed),
                    None => {
                        self.seen.push((stack, Occurrences::new(now, is_freed)));
                        self.seen_index.set(stack.0 as usize, self.seen.len() as u32);
                    }
                }
            }
            self.allocation_count += 1;
        }
    }

    /// Determines the stacks with even intervals, and the candidates for the number of steps.
    fn find_candidates(&mut self) {
        let allocations = u64::from(self.allocation_count);
        let seen = std::mem::take(&mut self.seen).into_iter();
        let even: Vec<_> = seen.filter(|(_, seen)| seen.is_even(allocations)).collect();
        self.seen_index = Column::new();
        let mut votes: HashMap<u32, u32, foldhash::fast::RandomState> = HashMap::default();
        for (_, seen) in &even {
            *votes.entry(seen.count).or_default() += 1;
        }
        let numbers = votes.iter().filter(|&(_, &votes)| votes >= MIN_AGREEING);
        // Sorted so that the best candidate is last.
        let key =
            |number: u32, votes: u32| u128::from(number > 2) << 64 | u128::from(votes) << 32 | u128::from(!number);
        self.candidates = sorted_numbers(numbers.map(|(&number, &votes)| (key(number, votes), number)).collect());
        self.even_stacks = Some(even);
    }

    /// Compares the next batch of stacks with the current candidate. After the last stack, accepts or rejects the
    /// candidate.
    fn try_candidate(&mut self, snapshot: &Snapshot, history: &DeviceHistory) {
        let (Some(&number), Some(even)) = (self.candidates.last(), &self.even_stacks) else {
            self.steps.rule = match () {
                () if history.event_count() == 0 => StepRule::NoEvents,
                () if snapshot.frames.is_empty() => StepRule::NoStacks,
                () => self.repeats.take().unwrap_or_default(),
            };
            self.is_done = true;
            return;
        };
        for &(stack, seen) in even.iter().skip(self.compared).take(STACKS_PER_BATCH as usize) {
            self.compared += 1;
            let is_near = seen.count.abs_diff(number) <= u32::from(number > 2 && seen.count > 2);
            if !is_near {
                continue;
            }
            self.roots.add(snapshot, (stack, seen, history.drawn_at(Moment(seen.events_before_second))));
        }
        if self.compared < even.len() {
            return;
        }
        self.compared = 0;
        let Some(root) = self.roots.take_best() else { return self.reject() };
        self.rule = StepRule::Stack(root.anchor.0, root.agreeing_stacks, 1);
        if number > 2 && root.agreeing_stacks >= MIN_AGREEING {
            self.repeats.get_or_insert(StepRule::Repeats(root.agreeing_stacks, number));
        }
        let is_part = self.roots.is_part_of_step(snapshot, &root);
        if is_part || root.agreeing_stacks < MIN_AGREEING || self.passes == MAX_PASSES {
            return self.reject();
        }
        (self.anchor, self.next_event) = (Some(root.anchor.0), 0);
        self.passes += 1;
    }

    /// Continues with the next candidate.
    fn reject(&mut self) {
        self.candidates.pop();
        (self.anchor, self.steps, self.step_lengths) = Default::default();
        (self.has_backward, self.has_optimizer) = Default::default();
    }

    /// Adds an event to its step.
    fn divide(&mut self, history: &DeviceHistory, anchor: StackId, event: u32) {
        let stack = history.events.stack(event);
        if history.events.action(event) == Action::Alloc {
            if stack == anchor {
                self.steps.spans.last_mut().into_iter().for_each(|before| before.to = event);
                self.steps.spans.push(Span { from: event, to: history.event_count() });
                self.step_lengths.push(0);
                self.has_backward.push(false);
                self.has_optimizer.push(false);
                self.ends_with_optimizer = false;
            }
            self.step_lengths.last_mut().into_iter().for_each(|length| *length += 1);
        }
        if self.backward.contains(stack) {
            self.is_backward_recorded = true;
            self.has_backward.last_mut().into_iter().for_each(|has| *has = true);
            self.ends_with_optimizer = false;
        } else if self.phases.phase(stack) == Some(StepPhase::Optimizer) {
            self.has_optimizer.last_mut().into_iter().for_each(|has| *has = true);
            self.ends_with_optimizer = self.has_backward.last() == Some(&true);
        }
    }

    /// Accepts or rejects the candidate whose steps are known.
    fn finish_pass(&mut self) {
        if is_last_partial(&self.step_lengths, self.ends_with_optimizer) {
            self.steps.spans.pop();
        }
        let (count, is_pair) = (self.steps.spans.len(), self.candidates.last() == Some(&2));
        let with_backward = self.has_backward.iter().take(count).filter(|&&has| has).count();
        let is_part_of_step = match is_pair {
            true => count < 2 || with_backward < 2,
            false => self.is_backward_recorded && 2 * with_backward < count,
        };
        if is_part_of_step {
            return self.reject();
        }
        self.steps.rule = std::mem::take(&mut self.rule);
        (self.anchor, self.is_done) = (None, true);
    }
}
