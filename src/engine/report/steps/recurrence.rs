//! Steps of a trace without annotations: finds a call stack that allocates at even intervals, in linear time.
//!
//! A stack is even if it allocates at least three times, spans at least half of all allocations, and its intervals
//! (counted in allocations) have a standard deviation of at most a quarter of their mean. With more than two intervals,
//! the first is ignored, because it contains one-time allocations.
//!
//! The candidates for the number of steps are the counts that even stacks have in common, those of most stacks first,
//! then the smallest. Stacks agree with a candidate if their count differs by at most one, because a trace may start
//! and end anywhere. If the Python frames that all agreeing stacks have in common are inside a `forward`, an optimizer
//! or the backward pass, or if there are none, the loop runs over layers or parameters and the next candidate is tried.
//!
//! A step starts at each allocation of one agreeing stack: the one with the fewest live bytes before its second
//! allocation.

use super::found::{How, Steps};
use crate::protocol::Span;
use crate::report::calls::Calls;
use base::column::Column;
use base::slice::{Slice, Sliced};
use base::sorted::sorted_numbers;
use base::units::Moment;
use hashbrown::HashMap;
use history::replay::DeviceHistory;
use history::snapshot::{Action, FrameId, Snapshot, StackId};

/// Number of even stacks that are compared at once. The time slice is charged for all of them in advance.
const STACKS_AT_ONCE: u32 = 128;
/// Minimum number of stacks that must agree.
const FEWEST: u32 = 3;

/// Occurrences of a stack, as indices of allocations.
#[derive(Clone, Copy, Default)]
struct Seen {
    count: u32,
    first: u32,
    second: u32,
    last: u32,
    squares: u128,
    /// Number of events before its second allocation.
    before_second: u32,
}

/// Search for steps by repeating stacks.
#[derive(Default)]
pub(super) struct Recurrence {
    event: u32,
    allocations: u32,
    /// By stack: index into `seen` plus one, or 0 if the stack has not allocated yet. Faster than a hash table.
    places: Column<u32>,
    seen: Vec<(StackId, Seen)>,
    even: Option<Vec<(StackId, Seen)>>,
    /// Candidates for the number of steps. The last one is tried next.
    numbers: Vec<u32>,
    /// For the current candidate: number of `even` stacks compared. `agreeing` counts those that agree, and `callers`
    /// has the Python frames that they have in common.
    looked_at: usize,
    agreeing: u32,
    callers: Option<Vec<FrameId>>,
    /// Agreeing stack with the fewest live bytes before its second allocation, and these bytes.
    anchor: Option<(StackId, Seen, i64)>,
    modules: Calls,
    is_chosen: bool,
    steps: Steps,
    lengths: Vec<u32>,
}

impl Recurrence {
    /// Continues the search.
    pub(super) fn step(&mut self, snapshot: &Snapshot, history: &DeviceHistory, slice: &mut Slice) -> Sliced {
        let count = history.event_count();
        if self.even.is_none() && self.places.is_empty() {
            self.places = (0..snapshot.stacks.len()).map(|_| 0).collect();
        }
        while self.even.is_none() {
            slice.tick()?;
            if self.event < count {
                self.look_at(history);
            } else {
                self.agree();
            }
        }
        while !self.is_chosen {
            slice.spend(16 * STACKS_AT_ONCE)?;
            self.choose(snapshot, history);
        }
        while let Some((anchor, ..)) = self.anchor.filter(|_| self.event < count) {
            for event in self.event..count {
                slice.tick()?;
                self.event += 1;
                if history.events.action(event) != Action::Alloc {
                    continue;
                }
                if history.events.stack(event) == anchor {
                    self.steps.spans.last_mut().into_iter().for_each(|before| before.to = event);
                    self.steps.spans.push(Span { from: event, to: count });
                    self.lengths.push(0);
                }
                self.lengths.last_mut().into_iter().for_each(|length| *length += 1);
            }
            self.leave_out_a_part();
        }
        Ok(())
    }

    /// Returns the steps and leaves the search empty. Call it when the search is done.
    pub(super) fn take_steps(&mut self) -> Steps {
        std::mem::take(&mut self.steps)
    }

    fn look_at(&mut self, history: &DeviceHistory) {
        let event = self.event;
        self.event += 1;
        if history.events.action(event) == Action::Alloc {
            let stack = history.events.stack(event);
            if stack != StackId::NONE && stack != StackId::EMPTY {
                let now = self.allocations;
                let place = self.places.get(stack.0 as usize).unwrap_or(0);
                match place.checked_sub(1).and_then(|place| self.seen.get_mut(place as usize)) {
                    Some((_, seen)) => {
                        let distance = u128::from(now - seen.last);
                        seen.count += 1;
                        seen.last = now;
                        seen.squares += distance * distance;
                        if seen.count == 2 {
                            (seen.second, seen.before_second) = (now, event);
                        }
                    }
                    None => {
                        self.seen.push((stack, Seen { count: 1, first: now, last: now, ..Seen::default() }));
                        self.places.set(stack.0 as usize, self.seen.len() as u32);
                    }
                }
            }
            self.allocations += 1;
        }
    }

    /// Determines the even stacks and the candidates for the number of steps.
    fn agree(&mut self) {
        let allocations = u64::from(self.allocations);
        let seen = std::mem::take(&mut self.seen).into_iter();
        let even: Vec<_> = seen.filter(|(_, seen)| seen.is_even(allocations)).collect();
        self.places = Column::new();
        let mut votes: HashMap<u32, u32, foldhash::fast::RandomState> = HashMap::default();
        for (_, seen) in &even {
            *votes.entry(seen.count).or_default() += 1;
        }
        let numbers = votes.iter().filter(|&(_, &votes)| votes >= FEWEST);
        // Sorted so that the best candidate is last.
        let numbers =
            numbers.map(|(&number, &votes)| (u128::from(votes) << 32 | u128::from(!number), number)).collect();
        let numbers = sorted_numbers(numbers);
        self.numbers = numbers;
        self.even = Some(even);
    }

    /// Compares some stacks with the current candidate. After the last stack, accepts or rejects the candidate.
    fn choose(&mut self, snapshot: &Snapshot, history: &DeviceHistory) {
        let (Some(&number), Some(even)) = (self.numbers.last(), &self.even) else {
            (self.anchor, self.is_chosen) = (None, true);
            return;
        };
        for &(stack, seen) in even.iter().skip(self.looked_at).take(STACKS_AT_ONCE as usize) {
            self.looked_at += 1;
            if seen.count.abs_diff(number) > 1 {
                continue;
            }
            let frames = self.modules.python(snapshot, stack);
            // The backward pass runs on its own threads. Without Python frames, steps look the same as operators there.
            if frames.is_empty() {
                continue;
            }
            self.agreeing += 1;
            match &mut self.callers {
                None => self.callers = Some(frames),
                Some(callers) => {
                    let common = callers.iter().zip(&frames).take_while(|(one, other)| one == other).count();
                    callers.truncate(common);
                }
            }
            let live = history.drawn_at(Moment(seen.before_second));
            if self.anchor.is_none_or(|(_, best, least)| (live, seen.first) < (least, best.first)) {
                self.anchor = Some((stack, seen, live));
            }
        }
        if self.looked_at < even.len() {
            return;
        }
        let is_inside = self.callers.take().is_none_or(|callers| self.modules.is_inside(snapshot, &callers));
        if let Some((stack, ..)) = self.anchor.filter(|_| !is_inside && self.agreeing >= FEWEST) {
            self.steps.found = How::Stack(stack, self.agreeing);
            (self.is_chosen, self.event) = (true, 0);
            return;
        }
        self.numbers.pop();
        (self.looked_at, self.agreeing, self.anchor) = (0, 0, None);
    }

    /// Drops the last step if it is likely cut off by the end of the trace or includes what follows the loop: if it has
    /// fewer than seven eighths of the allocations of any other step, or more than twice as many.
    fn leave_out_a_part(&mut self) {
        if let Some((&last, others)) = self.lengths.split_last()
            && let (Some(&least), Some(&most)) = (others.iter().min(), others.iter().max())
            && (u64::from(last) * 8 < u64::from(least) * 7 || last > most.saturating_mul(2))
        {
            self.steps.spans.pop();
        }
    }
}

impl Seen {
    fn is_even(&self, allocations: u64) -> bool {
        if self.count < 3 || u64::from(self.last - self.first) * 2 < allocations {
            return false;
        }
        let (mut from, mut distances, mut squares) = (self.first, u128::from(self.count - 1), self.squares);
        if distances > 2 {
            let first = u128::from(self.second - self.first);
            (from, distances, squares) = (self.second, distances - 1, squares - first * first);
        }
        let range = u128::from(self.last - from);
        // Variance of the intervals ≤ (mean / 4)².
        16 * distances.saturating_mul(squares) <= 17 * range * range
    }
}
