//! Finds the steps of a trace without annotations, in linear time. The starts of the steps are the allocations of a
//! call stack that allocates at even intervals.
//!
//! A stack is called even if it allocates at least three times, spans at least half of all allocations, and its
//! intervals (counted in allocations) have a standard deviation of at most a quarter of their mean. With more than two
//! intervals, the first is ignored, because it contains one-time allocations.
//!
//! The candidates for the number of steps are the counts that even stacks share: counts that more stacks share are
//! tried first, and then smaller counts. A stack agrees with a candidate if their counts differ by at most one, because
//! the trace may start and end within a step. If the Python frames that all agreeing stacks share are inside a
//! `forward`, an optimizer or the backward pass, or if they share no frames, the repeating loop runs over layers or
//! parameters instead of steps, and the next candidate is tried.
//!
//! A step starts at each allocation of one agreeing stack: the one with the fewest live bytes before its second
//! allocation.

use super::rule::{StepRule, Steps};
use crate::report::frame_roles::FrameRoles;
use base::column::Column;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::sorted_numbers;
use base::units::Moment;
use hashbrown::HashMap;
use history::replay::DeviceHistory;
use history::snapshot::{Action, FrameId, Snapshot, StackId};
use protocol::Span;

/// Number of even stacks that are compared in one batch. The cost of a batch is subtracted from the time slice in
/// advance.
const STACKS_PER_BATCH: u32 = 128;
/// Minimum number of stacks that must agree with a candidate for the number of steps.
const MIN_AGREEING: u32 = 3;

/// Allocations made by a call stack. `first`, `second` and `last` are indices of allocations in the trace.
#[derive(Clone, Copy, Default)]
struct Occurrences {
    count: u32,
    first: u32,
    second: u32,
    last: u32,
    interval_squares: u128,
    /// Number of events before the stack's second allocation.
    events_before_second: u32,
}

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
    /// Number of even stacks that were compared with the current candidate. `agreeing_stacks` is the number of stacks
    /// that agree, and `common_frames` has the Python frames that these stacks share.
    compared: usize,
    agreeing_stacks: u32,
    common_frames: Option<Vec<FrameId>>,
    /// Agreeing stack that has the fewest live bytes before its second allocation, with its allocations and these live
    /// bytes.
    anchor: Option<(StackId, Occurrences, i64)>,
    roles: FrameRoles,
    is_chosen: bool,
    steps: Steps,
    step_lengths: Vec<u32>,
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
        while !self.is_chosen {
            slice.spend(16 * STACKS_PER_BATCH)?;
            self.try_candidate(snapshot, history);
        }
        while let Some((anchor, ..)) = self.anchor.filter(|_| self.next_event < count) {
            for event in self.next_event..count {
                slice.tick()?;
                self.next_event += 1;
                if history.events.action(event) != Action::Alloc {
                    continue;
                }
                if history.events.stack(event) == anchor {
                    self.steps.spans.last_mut().into_iter().for_each(|before| before.to = event);
                    self.steps.spans.push(Span { from: event, to: count });
                    self.step_lengths.push(0);
                }
                self.step_lengths.last_mut().into_iter().for_each(|length| *length += 1);
            }
            self.drop_partial_step();
        }
        Ok(())
    }

    /// Returns the steps and resets them. Must only be called when the search is complete.
    pub(super) fn take_steps(&mut self) -> Steps {
        std::mem::take(&mut self.steps)
    }

    fn record_event(&mut self, history: &DeviceHistory) {
        let event = self.next_event;
        self.next_event += 1;
        if history.events.action(event) == Action::Alloc {
            let stack = history.events.stack(event);
            if stack != StackId::NONE && stack != StackId::EMPTY {
                let now = self.allocation_count;
                let number = self.seen_index.get(stack.0 as usize).unwrap_or(0);
                match number.checked_sub(1).and_then(|index| self.seen.get_mut(index as usize)) {
                    Some((_, seen)) => {
                        let distance = u128::from(now - seen.last);
                        seen.count += 1;
                        seen.last = now;
                        seen.interval_squares += distance * distance;
                        if seen.count == 2 {
                            (seen.second, seen.events_before_second) = (now, event);
                        }
                    }
                    None => {
                        self.seen
                            .push((stack, Occurrences { count: 1, first: now, last: now, ..Occurrences::default() }));
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
        let numbers =
            numbers.map(|(&number, &votes)| (u128::from(votes) << 32 | u128::from(!number), number)).collect();
        let numbers = sorted_numbers(numbers);
        self.candidates = numbers;
        self.even_stacks = Some(even);
    }

    /// Compares the next batch of stacks with the current candidate. After the last stack, accepts or rejects the
    /// candidate.
    fn try_candidate(&mut self, snapshot: &Snapshot, history: &DeviceHistory) {
        let (Some(&number), Some(even)) = (self.candidates.last(), &self.even_stacks) else {
            (self.anchor, self.is_chosen) = (None, true);
            return;
        };
        for &(stack, seen) in even.iter().skip(self.compared).take(STACKS_PER_BATCH as usize) {
            self.compared += 1;
            if seen.count.abs_diff(number) > 1 {
                continue;
            }
            let frames = self.roles.python_frames(snapshot, stack);
            // The backward pass runs on its own threads. Without Python frames, steps look the same as operators there.
            if frames.is_empty() {
                continue;
            }
            self.agreeing_stacks += 1;
            match &mut self.common_frames {
                None => self.common_frames = Some(frames),
                Some(callers) => {
                    let common = callers.iter().zip(&frames).take_while(|(caller, frame)| caller == frame).count();
                    callers.truncate(common);
                }
            }
            let live = history.drawn_at(Moment(seen.events_before_second));
            if self.anchor.is_none_or(|(_, best, min)| (live, seen.first) < (min, best.first)) {
                self.anchor = Some((stack, seen, live));
            }
        }
        if self.compared < even.len() {
            return;
        }
        let is_inside = self.common_frames.take().is_none_or(|callers| self.roles.is_inside(snapshot, &callers));
        if let Some((stack, ..)) = self.anchor.filter(|_| !is_inside && self.agreeing_stacks >= MIN_AGREEING) {
            self.steps.rule = StepRule::Stack(stack, self.agreeing_stacks);
            (self.is_chosen, self.next_event) = (true, 0);
            return;
        }
        self.candidates.pop();
        (self.compared, self.agreeing_stacks, self.anchor) = (0, 0, None);
    }

    /// Drops the last step if it has fewer than seven eighths of the allocations of every other step, or more than
    /// twice as many. Then it is probably cut off by the end of the trace or includes code after the loop.
    fn drop_partial_step(&mut self) {
        if let Some((&last, others)) = self.step_lengths.split_last()
            && let (Some(&min), Some(&max)) = (others.iter().min(), others.iter().max())
            && (u64::from(last) * 8 < u64::from(min) * 7 || last > max.saturating_mul(2))
        {
            self.steps.spans.pop();
        }
    }
}

impl Occurrences {
    fn is_even(&self, allocations: u64) -> bool {
        if self.count < 3 || u64::from(self.last - self.first) * 2 < allocations {
            return false;
        }
        let (mut from, mut distances, mut interval_squares) =
            (self.first, u128::from(self.count - 1), self.interval_squares);
        if distances > 2 {
            let first = u128::from(self.second - self.first);
            (from, distances, interval_squares) = (self.second, distances - 1, interval_squares - first * first);
        }
        let range = u128::from(self.last - from);
        // Variance of the intervals ≤ (mean / 4)².
        16 * distances.saturating_mul(interval_squares) <= 17 * range * range
    }
}
