//! Steps of a trace without annotations: a call stack that allocates at even distances, in slices and linear time.
//!
//! A stack is even when it allocates at least three times, from the first to the last over half of all allocations, and the distances
//! between (counted in allocations) vary by at most half of their mean. Stacks that allocate as often, or once more (a trace may begin
//! and end anywhere), agree. Of all numbers of times that at least three stacks agree on (and an eighth of as many as on any) the
//! smallest is that of the steps: what comes more often is a part of them. Where all that agree lie in one call of a module, of
//! an optimizer or of the backward pass, the loop is in there and goes over layers or parameters; then the next larger number.
//! A step begins where of the agreeing stacks the one allocates before which the least is live, on average.

use super::modules::Modules;
use super::steps::{How, Steps};
use crate::engine::protocol::Span;
use crate::replay::DeviceHistory;
use crate::snapshot::{Action, Snapshot, StackId};
use crate::units::{EventIdx, Moment};
use hashbrown::HashMap;

/// Events, or stacks, between two questions for the time.
const EVENTS_PER_CHECK: u32 = 2048;
const STACKS_PER_CHECK: usize = 128;
/// Stacks that must agree, and the part of the most that do.
const FEWEST: u32 = 3;
const PART: u32 = 8;

/// When a stack allocates, counted in allocations.
#[derive(Clone, Copy, Default)]
struct Seen {
    count: u32,
    first: u32,
    last: u32,
    /// Sum of the squared distances.
    squares: u128,
    /// Sum of what is live before.
    live: i128,
}

/// The search, as far as it is.
#[derive(Default)]
pub(super) struct Recurrence {
    event: u32,
    allocations: u32,
    total: i64,
    seen: HashMap<StackId, Seen, foldhash::fast::RandomState>,
    even: Option<Vec<(StackId, Seen)>>,
    /// The numbers of times that stacks agree on, the smallest last.
    numbers: Vec<u32>,
    /// Of the one looked at: how many of `even`, the innermost caller that all agreeing have, the one where the least is live.
    looked_at: usize,
    agreeing: u32,
    caller: Option<StackId>,
    anchor: Option<(StackId, Seen)>,
    modules: Modules,
    is_chosen: bool,
    steps: Steps,
    /// Allocations in each step.
    lengths: Vec<u32>,
}

impl Recurrence {
    /// Searches while there is time: `true` when done.
    pub(super) fn step(
        &mut self,
        snapshot: &Snapshot,
        history: &DeviceHistory,
        has_time: &mut dyn FnMut() -> bool,
    ) -> bool {
        let count = history.event_count();
        if self.event == 0 {
            self.total = history.drawn_at(Moment::START);
        }
        while self.even.is_none() {
            for _ in 0..EVENTS_PER_CHECK.min(count - self.event) {
                self.look_at(history);
            }
            if self.event == count {
                self.agree();
            }
            if !has_time() {
                return false;
            }
        }
        while !self.is_chosen {
            self.choose(snapshot);
            if !has_time() {
                return false;
            }
        }
        while let Some((anchor, _)) = self.anchor.filter(|_| self.event < count) {
            for event in self.event..count.min(self.event + EVENTS_PER_CHECK) {
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
            if self.event == count {
                self.leave_out_a_part();
            }
            if !has_time() {
                return false;
            }
        }
        true
    }

    /// What was found, once done.
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
                let seen = self.seen.entry(stack).or_insert(Seen { first: now, last: now, ..Seen::default() });
                let distance = u128::from(now - seen.last);
                seen.count += 1;
                seen.last = now;
                seen.squares += distance * distance;
                seen.live += i128::from(self.total);
            }
            self.allocations += 1;
        }
        self.total = self.total.saturating_add(history.drawn_change(EventIdx(event)));
    }

    /// On how many times stacks agree.
    fn agree(&mut self) {
        let allocations = u64::from(self.allocations);
        let even: Vec<_> = self.seen.drain().filter(|(_, seen)| seen.is_even(allocations)).collect();
        let mut votes: HashMap<u32, u32, foldhash::fast::RandomState> = HashMap::default();
        for (_, seen) in &even {
            *votes.entry(seen.count).or_default() += 1;
        }
        let agreeing = |number: u32| {
            let votes = |number| votes.get(&number).copied().unwrap_or(0);
            votes(number) + votes(number.saturating_add(1))
        };
        let most = votes.keys().map(|&number| agreeing(number)).max().unwrap_or(0);
        let mut numbers: Vec<u32> = votes.keys().copied().filter(|&number| agreeing(number) >= FEWEST.max(most / PART)).collect();
        numbers.sort_unstable_by_key(|&number| u32::MAX - number);
        self.numbers = numbers;
        self.even = Some(even);
    }

    /// Looks at some of the stacks that agree on the smallest number, and when at all, whether those are steps.
    fn choose(&mut self, snapshot: &Snapshot) {
        let (Some(&number), Some(even)) = (self.numbers.last(), &self.even) else {
            (self.anchor, self.is_chosen) = (None, true);
            return;
        };
        for &(stack, seen) in even.iter().skip(self.looked_at).take(STACKS_PER_CHECK) {
            self.looked_at += 1;
            if seen.count != number && seen.count != number + 1 {
                continue;
            }
            self.agreeing += 1;
            self.caller = Some(self.caller.map_or(stack, |caller| common_caller(snapshot, caller, stack)));
            if self.anchor.is_none_or(|(_, best)| seen.begins_better_than(&best)) {
                self.anchor = Some((stack, seen));
            }
        }
        if self.looked_at < even.len() {
            return;
        }
        let is_inside = self.caller.is_some_and(|caller| self.modules.is_inside(snapshot, caller));
        if let Some((stack, _)) = self.anchor.filter(|_| !is_inside) {
            self.steps.found = How::Stack(stack, self.agreeing);
            (self.is_chosen, self.event) = (true, 0);
            return;
        }
        self.numbers.pop();
        (self.looked_at, self.agreeing, self.caller, self.anchor) = (0, 0, None, None);
    }

    /// The last step may be cut by the end of the trace, or have all that comes after it.
    fn leave_out_a_part(&mut self) {
        if let Some((last, others)) = self.lengths.split_last()
            && let (Some(least), Some(most)) = (others.iter().min(), others.iter().max())
            && (last < least || *last > most.saturating_mul(2))
        {
            self.steps.spans.pop();
        }
    }
}

impl Seen {
    fn is_even(&self, allocations: u64) -> bool {
        let range = u128::from(self.last - self.first);
        let distances = u128::from(self.count.saturating_sub(1));
        // Variance of the distances ≤ (mean / 2)².
        self.count >= 3
            && range * 2 >= u128::from(allocations)
            && 4 * distances.saturating_mul(self.squares) <= 5 * range * range
    }

    fn begins_better_than(&self, other: &Seen) -> bool {
        let (own, others) = (self.live.saturating_mul(other.count.into()), other.live.saturating_mul(self.count.into()));
        own < others || (own == others && self.first < other.first)
    }
}

/// The innermost frames that two stacks share, callers first.
fn common_caller(snapshot: &Snapshot, mut one: StackId, mut other: StackId) -> StackId {
    while one != other {
        let deeper = if one > other { &mut one } else { &mut other };
        // Callers have lower ids.
        *deeper = snapshot.stacks.innermost(*deeper).map_or(StackId::EMPTY, |(callers, _)| callers);
    }
    one
}
