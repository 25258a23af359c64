//! Steps of a trace without annotations: a call stack that allocates at even distances, in slices and linear time.
//!
//! A stack is even when it allocates at least three times, from the first to the last over half of all allocations, and the distances
//! between (counted in allocations; the first aside where there are more than two: what is made once is made then) vary by at most
//! a quarter of their mean. The number of times that most even stacks allocate (of equal numbers the smallest) is that of the steps.
//! Stacks that allocate as often, or once more or less (a trace may begin and end anywhere), agree. Where the Python frames of all
//! that agree begin with one call of a `forward`, of an optimizer or of the backward pass, or have none in common, the loop is in
//! there and goes over layers or parameters; then the number that is next. A step begins where of the agreeing stacks the one
//! allocates before whose second time the least is live.

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

/// Even stacks that are looked at in one go: as long as so many steps.
const STACKS_AT_ONCE: u32 = 128;
/// Stacks that must agree.
const FEWEST: u32 = 3;

/// When a stack allocates, counted in allocations.
#[derive(Clone, Copy, Default)]
struct Seen {
    count: u32,
    first: u32,
    second: u32,
    last: u32,
    squares: u128,
    /// The events before its second time.
    before_second: u32,
}

/// The search, as far as it is.
#[derive(Default)]
pub(super) struct Recurrence {
    event: u32,
    allocations: u32,
    /// The place after that of each stack in `seen`; 0: it has none. A table of hashes would cost more than all else.
    places: Column<u32>,
    seen: Vec<(StackId, Seen)>,
    even: Option<Vec<(StackId, Seen)>>,
    /// The numbers of times that stacks agree on, the next last.
    numbers: Vec<u32>,
    /// Of the one looked at: how many of `even`, the Python frames that all agreeing begin with, the one where the least is live.
    looked_at: usize,
    agreeing: u32,
    callers: Option<Vec<FrameId>>,
    /// With the bytes that are live before its second time.
    anchor: Option<(StackId, Seen, i64)>,
    modules: Calls,
    is_chosen: bool,
    steps: Steps,
    lengths: Vec<u32>,
}

impl Recurrence {
    /// Searches.
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

    /// On how many times stacks agree.
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
        // What is looked at first stands last.
        let numbers =
            numbers.map(|(&number, &votes)| (u128::from(votes) << 32 | u128::from(!number), number)).collect();
        let numbers = sorted_numbers(numbers);
        self.numbers = numbers;
        self.even = Some(even);
    }

    /// Looks at some of the stacks that agree on the next number, and when at all, whether those are steps.
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
            // The backward pass has threads of its own, where nothing tells steps from operators.
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

    /// The last step may be cut by the end of the trace, or have all that comes after it: it is left out where it has fewer than seven
    /// eighths of the allocations of any other, or more than twice as many.
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
        // Variance of the distances ≤ (mean / 4)².
        16 * distances.saturating_mul(squares) <= 17 * range * range
    }
}
