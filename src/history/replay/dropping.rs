//! Reduction of a trace to a range ([`super::loaded_range`]): events before the range are dropped, and events after it
//! only update sums and facts.

use super::loaded_range::{EarlyFacts, KeepRange, LaterOperation, LaterState, NO_FACTS, Origin, UNKNOWN_ORIGIN};
use super::times::Times;
use super::trace::{
    ALLOCATED_LATER, Annotated, EARLY_BIT, FreeSums, LifetimeColumns, NEVER, Subject, Trace, to_signed,
};
use crate::snapshot::{Action, Event};
use base::column::Column;

/// Minimum number of events dropped at once. Each call also takes time proportional to the number of live allocations.
const DROP_BATCH: u32 = if cfg!(test) { 2 } else { 1 << 16 };

impl Trace {
    /// Creates an empty trace that will keep only this range of events.
    pub(super) fn with_range(keep: KeepRange) -> Trace {
        let mut trace = Trace::default();
        trace.outside.keep = keep;
        trace.outside.next_check = if keep.is_all() { u32::MAX } else { 0 };
        trace
    }

    /// Returns whether the next event is after the range. If so, also processes the event. Otherwise drops events
    /// before the range, once enough of them are recorded.
    #[cold]
    #[inline(never)]
    pub(super) fn is_after_range(&mut self, event: &Event) -> bool {
        let KeepRange { from, to, last } = self.outside.keep;
        let count = self.events.len();
        if count >= to.max(from) {
            self.follow_later_event(event);
            return true;
        }
        let kept = count - self.events.first();
        let batch = DROP_BATCH.max(u32::try_from(self.live.len()).unwrap_or(u32::MAX));
        if count <= from {
            if count == from || kept >= batch {
                self.drop_first(kept);
            }
            let next = count.saturating_add(batch).min(from);
            self.outside.next_check = if count == from { self.next_check(batch) } else { next };
        } else {
            if kept >= last {
                self.drop_first(kept - last);
            }
            self.outside.next_check = self.next_check(batch);
        }
        false
    }

    /// Returns the number of recorded events at which [`Trace::is_after_range`] must be called next. Valid only after
    /// the range has started.
    fn next_check(&self, batch: u32) -> u32 {
        let KeepRange { from, to, last } = self.outside.keep;
        let full = self.events.first().saturating_add(last).saturating_add(batch.max(last));
        if last == u32::MAX { to.max(from) } else { full.min(to.max(from)) }
    }

    /// Drops all events before the ones that the range keeps. Called after all events were recorded.
    pub(super) fn keep_last(&mut self) {
        let KeepRange { from, last, .. } = self.outside.keep;
        let (count, first) = (self.events.len(), self.events.first());
        let start = from.min(count).max(count.saturating_sub(last));
        self.drop_first(start.saturating_sub(first));
    }

    /// Updates the sums, and the facts about early allocations, for an event after the range.
    fn follow_later_event(&mut self, event: &Event) {
        let outside = &mut self.outside;
        outside.later_events += 1;
        outside.counts[event.action as usize] += 1;
        self.counts[event.action as usize] += 1;
        let size = to_signed(event.size);
        match event.action {
            Action::Alloc => {
                outside.after.allocated = outside.after.allocated.saturating_add(size);
                self.allocated = self.allocated.saturating_add(size);
                self.live.insert(event.address, ALLOCATED_LATER);
                outside.states.insert(event.address, LaterState { size: event.size, is_requested: false });
            }
            Action::FreeRequested | Action::FreeCompleted => {
                let is_completed = event.action == Action::FreeCompleted;
                let known = if is_completed {
                    outside.states.remove(&event.address);
                    self.live.remove(&event.address)
                } else {
                    outside.states.entry(event.address).or_default().is_requested = true;
                    self.live.get(&event.address).copied()
                };
                let subject = known.unwrap_or_else(|| {
                    let (stack, labels, is_of_free) = (event.stack, event.labels, true);
                    let subject = self.early.push(event) | EARLY_BIT;
                    self.outside.facts.push(EarlyFacts { origin: Origin { stack, labels, is_of_free }, ..NO_FACTS });
                    self.annotated.assign_early(event.address, subject);
                    if !is_completed {
                        self.live.insert(event.address, subject);
                    }
                    subject
                });
                let (after, all) = match is_completed {
                    true => (&mut self.outside.after.completed, &mut self.completed),
                    false => (&mut self.outside.after.requested, &mut self.requested),
                };
                *after = after.saturating_add(size);
                all.add_later_free(event.size, subject, &self.outside.facts);
                if subject & EARLY_BIT != 0
                    && let index = (subject & !EARLY_BIT) as usize
                    && let Some(mut facts) = self.outside.facts.get(index)
                {
                    facts.requested_later |= !is_completed;
                    facts.completed_later |= is_completed;
                    self.outside.facts.set(index, facts);
                }
            }
            action if action.is_segment_action() => {
                let grows = matches!(action, Action::SegmentAlloc | Action::SegmentMap);
                let change = if grows { size } else { -size };
                outside.after.reserved = outside.after.reserved.saturating_add(change);
                self.reserved = self.reserved.saturating_add(change);
                let Event { address, size, labels, .. } = *event;
                outside.operations.push(LaterOperation { action, address, size, labels });
            }
            _ => {}
        }
    }

    /// Drops the first `count` loaded events, but keeps their effect on the later state.
    fn drop_first(&mut self, count: u32) {
        if count == 0 {
            return;
        }
        let (from, first) = (self.events.first(), self.events.first() + count);
        let (mut operations, mut notes) = (0usize, 0usize);
        for event in from..first {
            let action = self.events.action(event);
            self.outside.counts[action as usize] += 1;
            let subject = self.events.subject_of(event, action);
            self.add_to_sums(event, action, subject);
            operations += usize::from(matches!(subject, Subject::Segment(_)));
            notes += usize::from(matches!(subject, Subject::Note(_)));
        }
        let (early, traced) = self.carry_live(first);
        let dropped = traced.len() as u32;
        let moved = |subject: u32| match (subject & EARLY_BIT != 0, subject & !EARLY_BIT) {
            (true, index) => early.get(index as usize).copied().unwrap_or(NEVER),
            (false, ALLOCATED_LATER) => ALLOCATED_LATER,
            (false, index) => traced.get(index as usize).copied().unwrap_or_else(|| index.wrapping_sub(dropped)),
        };
        self.live.values_mut().for_each(|subject| *subject = moved(*subject));
        self.live.retain(|_, subject| *subject != NEVER);
        let Annotated { by_subject, .. } = &mut self.annotated;
        let renamed = std::mem::take(by_subject).into_iter().filter_map(|(subject, labels)| {
            let number = match subject {
                Subject::Traced(index) => moved(index),
                Subject::Early(index) => moved(index | EARLY_BIT),
                Subject::Segment(_) | Subject::Note(_) => NEVER,
            };
            let early = Subject::Early(number & !EARLY_BIT);
            (number != NEVER).then_some((if number & EARLY_BIT != 0 { early } else { Subject::Traced(number) }, labels))
        });
        *by_subject = renamed.collect();
        self.free_sizes.retain(|&(event, _)| event >= first);
        self.segment_operations = self.segment_operations.range(operations..usize::MAX).collect();
        self.notes = self.notes.range(notes..usize::MAX).collect();
        self.note_events = self.note_events.range(notes..usize::MAX).collect();
        self.events.drop_before(first, |action, subject| match action {
            Action::Alloc | Action::FreeRequested | Action::FreeCompleted => moved(subject),
            action if action.is_segment_action() => subject.wrapping_sub(operations as u32),
            _ => subject.wrapping_sub(notes as u32),
        });
    }

    /// Adds the effect of an event to the sums over the events before the range.
    fn add_to_sums(&mut self, event: u32, action: Action, subject: Subject) {
        let (lifetimes, index) = match subject {
            Subject::Traced(index) => (&self.traced, index),
            Subject::Early(index) => (&self.early, index),
            Subject::Segment(index) => {
                let size = to_signed(self.segment_operations.get(index as usize).unwrap_or_default().1);
                let grows = matches!(action, Action::SegmentAlloc | Action::SegmentMap);
                let before = &mut self.outside.before;
                before.reserved = before.reserved.saturating_add(if grows { size } else { -size });
                return;
            }
            Subject::Note(_) => return,
        };
        let place = self.free_sizes.binary_search_by_key(&event, |&(event, _)| event);
        let free_size = place.ok().and_then(|place| self.free_sizes.get(place)).map(|&(_, size)| size);
        let free_size = free_size.filter(|_| action != Action::Alloc);
        let size = free_size.or(lifetimes.size.get(index as usize)).map_or(0, to_signed);
        let before = &mut self.outside.before;
        let sum = match action {
            Action::Alloc => &mut before.allocated,
            Action::FreeRequested => &mut before.requested,
            _ => &mut before.completed,
        };
        *sum = sum.saturating_add(size);
    }

    /// Converts all allocations that are live before event `first` to early allocations. Returns two tables of new
    /// subjects: for the previous early allocations, and for allocations of dropped events. The subject of a freed
    /// allocation is [`NEVER`].
    fn carry_live(&mut self, first: u32) -> (Vec<u32>, Vec<u32>) {
        let mut lifetimes = LifetimeColumns::default();
        let mut facts = Column::new();
        let never_completes = self.counts[Action::FreeCompleted as usize] == 0;
        let mut put = |from: &LifetimeColumns, index: usize, early_facts: EarlyFacts, subject: u32| {
            let (requested, freed_at) = (from.free_requested.at(index), from.freed_at.at(index));
            // In a trace without completions, the next alloc at the address shows that it was freed.
            let is_over = || self.live.get(&from.address.at(index)) != Some(&subject);
            if freed_at <= first || (never_completes && requested <= first && is_over()) {
                return NEVER;
            }
            // Allocations with an earlier request await their free from the start of the range.
            let requested = match requested {
                _ if requested <= first => 0,
                // Without a request, equal moments stand for a request before the trace, but only if the alloc is
                // unknown.
                _ if early_facts.is_carried && requested == freed_at => NEVER,
                _ => requested,
            };
            lifetimes.push_row(from.address.at(index), from.size.at(index), requested, freed_at);
            facts.push(early_facts);
            (lifetimes.size.len() as u32 - 1) | EARLY_BIT
        };
        let early = (0..self.early.size.len()).map(|index| {
            let mut early_facts = self.outside.facts.get(index).unwrap_or(NO_FACTS);
            let requested = self.early.free_requested.at(index);
            if early_facts.origin == UNKNOWN_ORIGIN
                && requested <= first
                && let Some(event) = requested.checked_sub(1)
            {
                let (stack, labels) = (self.events.stack(event), self.events.labels(event));
                early_facts.origin = Origin { stack, labels, is_of_free: true };
            }
            put(&self.early, index, early_facts, index as u32 | EARLY_BIT)
        });
        let early: Vec<u32> = early.collect();
        let traced_count = self.allocated_at.iter().take_while(|&allocated_at| allocated_at <= first).count();
        let traced = self.allocated_at.range(0..traced_count).enumerate().map(|(index, allocated_at)| {
            let event = allocated_at.saturating_sub(1);
            let (stack, labels) = (self.events.stack(event), self.events.labels(event));
            let origin = Origin { stack, labels, is_of_free: false };
            put(&self.traced, index, EarlyFacts { origin, is_carried: true, ..NO_FACTS }, index as u32)
        });
        let traced = traced.collect();
        (self.early, self.outside.facts) = (lifetimes, facts);
        self.traced = self.traced.rows_from(traced_count);
        self.allocated_at = self.allocated_at.range(traced_count..usize::MAX).collect();
        (early, traced)
    }

    /// Adds empty facts for a new early allocation, when an event in the range refers to it for the first time.
    pub(super) fn add_early_facts(&mut self) {
        if !self.outside.keep.is_all() {
            self.outside.facts.push(NO_FACTS);
        }
    }

    /// Returns whether the alloc event of an early allocation is among the dropped events.
    pub(super) fn is_carried(&self, early_index: u32) -> bool {
        self.outside.facts.get(early_index as usize).is_some_and(|facts| facts.is_carried)
    }
}

impl FreeSums {
    /// Adds a free after the range to the sums.
    fn add_later_free(&mut self, size: u64, subject: u32, facts: &Column<EarlyFacts>) {
        let is_carried = facts.get((subject & !EARLY_BIT) as usize).is_some_and(|facts| facts.is_carried);
        self.add_free(size, subject & EARLY_BIT != 0 && !is_carried);
    }
}

impl LifetimeColumns {
    /// Returns the columns without the rows before `row`.
    fn rows_from(&self, row: usize) -> LifetimeColumns {
        LifetimeColumns {
            address: self.address.range(row..usize::MAX).collect(),
            size: self.size.range(row..usize::MAX).collect(),
            free_requested: self.free_requested.range(row..usize::MAX).collect(),
            freed_at: self.freed_at.range(row..usize::MAX).collect(),
        }
    }
}

impl Times {
    /// Returns the times from event `first` on. Earlier events are treated as dropped.
    pub(super) fn since_event(&self, first: u32) -> Times {
        let mut times = Times::with_skipped(first);
        (first..self.len()).for_each(|event| times.push(self.time_or_none(event)));
        times
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/replay/dropping.rs"]
mod tests;
