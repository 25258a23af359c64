//! History of one device.

use super::allocation_change::AllocationChange;
use super::allocations::{AllocationId, Allocations, Provenance};
use super::awaiting_free::awaiting_free_change;
use super::live::LiveSets;
use super::loaded_range::{EarlyFacts, LaterOperation, LoadedRange, Origin};
use super::numbers::DeviceFigures;
use super::totals::{Curve, Totals};
use super::trace::{Annotated, Events, Subject, to_signed};
use crate::snapshot::{Action, AnnotationRange, LabelsId, UNKNOWN_FREE};
use base::column::Column;
use base::heap::HeapBytes;
use base::units::{EventIdx, Moment};
use hashbrown::HashMap;

/// Number of moments between two stored counts of live allocations. Recomputing a count between them takes well under a
/// microsecond.
pub(super) const MOMENTS_PER_COUNT: u32 = 64;

/// History of one device: events, allocations, totals.
#[derive(Clone, Debug)]
pub struct DeviceHistory {
    /// Ordinal of the device. −1 is host (pinned) memory.
    pub device: i64,
    pub events: Events,
    /// Number of events of each [`Action`], in the order of `Action::ALL`.
    pub action_counts: [u64; Action::ALL.len()],
    pub allocations: Allocations,
    /// Key figures of the device.
    pub numbers: DeviceFigures,
    /// Annotations as time ranges, sorted by start.
    pub annotations: Vec<AnnotationRange>,
    /// Checkpoints for finding the allocations that are live at a moment.
    pub live: LiveSets,
    /// Requested bytes of all live allocations at each moment, which is the height of the drawn stack.
    pub drawn: Totals,
    /// Reserved bytes at each moment.
    pub reserved: Totals,
    /// Requested bytes of all allocations that are awaiting free, at each moment.
    pub awaiting_free: Totals,
    /// Number of live allocations at every [`MOMENTS_PER_COUNT`]-th moment.
    pub(super) live_counts: Column<u32>,
    /// Row in the snapshot's block table for each allocation that is live at the end, by allocation id.
    pub(super) end_blocks: HashMap<u32, u32, foldhash::fast::RandomState>,
    pub(super) segment_operations: Column<(u64, u64)>,
    /// Reserved ranges that exist at the end in no listed segment: address, size and event of each.
    pub(super) unlisted_ranges: Vec<(u64, u64, u32)>,
    pub(super) notes: Column<(u64, u64)>,
    /// Additional facts about allocations from before the loaded range. Empty if the whole trace is loaded.
    pub(super) early_facts: Column<EarlyFacts>,
    /// Segment operations after the loaded range.
    pub(super) later_operations: Column<LaterOperation>,
    pub(super) later_event_count: u64,
    pub(super) note_events: Column<u32>,
    pub(super) annotated: Annotated,
    /// Action that ends a lifetime: `free_completed`, or `free_requested` if the trace has no completions.
    pub(super) ending_action: Action,
}

impl DeviceHistory {
    /// Returns the number of events in the trace. Moments range from 0 to this number.
    pub fn event_count(&self) -> u32 {
        self.events.len()
    }

    /// Returns the loaded range of the trace, or `None` if the whole trace is loaded.
    pub fn loaded(&self) -> Option<LoadedRange> {
        let loaded = LoadedRange { first: self.events.first(), later_events: self.later_event_count };
        (loaded != LoadedRange::default()).then_some(loaded)
    }

    /// Returns the first known moment. This is the state before the first loaded event.
    pub fn first_moment(&self) -> Moment {
        Moment(self.events.first())
    }

    /// Returns the stack and labels of an allocation from before the loaded range, if they are known from dropped
    /// events.
    pub fn origin(&self, id: AllocationId) -> Option<Origin> {
        let index = id.0.checked_sub(self.allocations.unexplained_count + self.allocations.static_count)?;
        self.early_facts.get(index as usize).map(|facts| facts.origin).filter(Origin::is_known)
    }

    /// Returns the allocation that an event refers to.
    pub fn allocation_of(&self, event: EventIdx) -> Option<AllocationId> {
        self.allocations.id(self.events.subject(event.0))
    }

    /// Returns the address and size of an event's allocation or segment operation. For other events, returns the values
    /// in the event itself: for `oom`, these are the free and the requested bytes.
    pub fn address_and_size(&self, event: EventIdx) -> (u64, u64) {
        match self.events.subject(event.0) {
            Subject::Segment(index) => self.segment_operations.get(index as usize).unwrap_or_default(),
            Subject::Note(index) => self.notes.get(index as usize).unwrap_or_default(),
            _ => {
                self.allocation_of(event).map_or((0, 0), |id| (self.allocations.address(id), self.allocations.size(id)))
            }
        }
    }

    /// Returns the free bytes that the driver reported at an `oom`, if recorded.
    pub fn free_at_oom(&self, event: EventIdx) -> Option<u64> {
        Some(self.address_and_size(event).0).filter(|&bytes| bytes != UNKNOWN_FREE)
    }

    /// Iterates over the indices of events without an allocation or segment (`oom`, `snapshot`, `annotate`), in order.
    pub fn note_events(&self) -> impl Iterator<Item = u32> + '_ {
        self.note_events.iter()
    }

    /// Iterates over the indices of the `oom` events, in order.
    pub fn oom_events(&self) -> impl Iterator<Item = u32> + '_ {
        self.note_events().filter(|&event| self.events.action(event) == Action::Oom)
    }

    /// Returns the labels of the most recent `annotate` event of an allocation.
    pub fn annotation(&self, id: AllocationId) -> Option<LabelsId> {
        let Annotated { by_subject, by_address } = &self.annotated;
        match self.allocations.provenance(id) {
            _ if by_subject.is_empty() && by_address.is_empty() => None,
            Provenance::AllocatedBy(event) | Provenance::FreedBy(event) => {
                by_subject.get(&self.events.subject(event.0)).copied()
            }
            Provenance::Static => by_address.get(&self.allocations.address(id)).copied(),
            Provenance::Unexplained => None,
        }
    }

    /// Returns the effect of `event` on its allocation.
    #[inline(always)]
    pub fn allocation_change(&self, event: EventIdx) -> Option<AllocationChange> {
        let action = self.events.action(event.0);
        let subject = self.events.subject_of(event.0, action);
        let id = self.allocations.id(subject)?;
        let (lifetimes, row) = self.allocations.row(subject)?;
        let (moment, size) = (Moment::after(event).0, lifetimes.size.at(row));
        let mut change = AllocationChange {
            id,
            moment,
            size,
            starts_lifetime: Some(true),
            awaiting_free: 0,
            is_program_free: false,
        };
        if action != Action::Alloc {
            let [from, freed_at] = self.allocations.awaiting_free_span(id);
            change.starts_lifetime = (action == self.ending_action && freed_at == moment).then_some(false);
            change.awaiting_free =
                awaiting_free_change([from, freed_at], action, self.ending_action, moment) * to_signed(size);
            change.is_program_free = freed_at.min(from) == moment;
        }
        Some(change)
    }

    /// Returns the allocation whose lifetime starts or ends at `event`, and `true` for a start.
    #[inline(always)]
    pub fn lifetime_change(&self, event: EventIdx) -> Option<(AllocationId, bool)> {
        let action = self.events.action(event.0);
        let is_alloc = action == Action::Alloc;
        // Other actions need no lookup.
        if !is_alloc && action != self.ending_action {
            return None;
        }
        let subject = self.events.subject_of(event.0, action);
        let (lifetimes, row) = self.allocations.row(subject)?;
        let changes = is_alloc || lifetimes.freed_at.at(row) == Moment::after(event).0;
        changes.then_some((self.allocations.id(subject)?, is_alloc))
    }

    /// Returns the change of the drawn stack's height at `event`, in bytes.
    pub fn drawn_change(&self, event: EventIdx) -> i64 {
        self.allocation_change(event).map_or(0, |change| change.bytes())
    }

    /// Returns the change in reserved bytes at `event`.
    pub fn reserved_change(&self, event: EventIdx) -> i64 {
        let Subject::Segment(index) = self.events.subject(event.0) else { return 0 };
        let size = self.segment_operations.get(index as usize).unwrap_or_default().1 as i64;
        match self.events.action(event.0) {
            Action::SegmentAlloc | Action::SegmentMap => size,
            _ => -size,
        }
    }

    /// Returns the change of the requested bytes that are awaiting free at `event`.
    pub fn awaiting_free_change(&self, event: EventIdx) -> i64 {
        self.allocation_change(event).map_or(0, |change| change.awaiting_free)
    }

    /// Same as [`DeviceHistory::awaiting_free_change`], for an event that is known to apply `action` to `id`.
    #[inline(always)]
    pub(super) fn awaiting_free_change_of(&self, id: AllocationId, action: Action, event: EventIdx) -> i64 {
        let change = awaiting_free_change(
            self.allocations.awaiting_free_span(id),
            action,
            self.ending_action,
            Moment::after(event).0,
        );
        change * to_signed(self.allocations.size(id))
    }

    /// Returns the requested bytes of all live allocations at `moment`.
    pub fn drawn_at(&self, moment: Moment) -> i64 {
        Curve::new(&self.drawn, &|event| self.drawn_change(event)).at(moment)
    }

    /// Returns the peak of the live bytes: its first moment, and the requested bytes.
    pub fn live_peak(&self) -> (Moment, u64) {
        let change = |event| self.drawn_change(event);
        let peak = Curve::new(&self.drawn, &change).max_in(0..self.drawn.moment_count());
        peak.map_or((Moment(0), 0), |(moment, bytes)| {
            (moment.max(self.first_moment()), u64::try_from(bytes).unwrap_or(0))
        })
    }

    /// Returns the first moment at which the reserved bytes reach their maximum.
    pub fn reserved_peak(&self) -> Moment {
        let change = |event| self.reserved_change(event);
        let peak = Curve::new(&self.reserved, &change).max_in(0..self.reserved.moment_count());
        peak.map_or(Moment(0), |(moment, _)| moment.max(self.first_moment()))
    }

    /// Returns the reserved bytes at `moment`.
    pub fn reserved_at(&self, moment: Moment) -> i64 {
        Curve::new(&self.reserved, &|event| self.reserved_change(event)).at(moment)
    }

    /// Returns the number of allocations that are live at `moment`, including empty ones. `moment` is clamped
    /// to the last one.
    pub fn live_count_at(&self, moment: Moment) -> u32 {
        let moment = moment.0.min(self.event_count());
        let block = moment / MOMENTS_PER_COUNT;
        let events = (block * MOMENTS_PER_COUNT..moment).map(EventIdx);
        let changes = events.filter_map(|event| self.lifetime_change(event));
        changes.fold(self.live_counts.get(block as usize).unwrap_or(0), |count, (_, starts_lifetime)| {
            if starts_lifetime { count.saturating_add(1) } else { count.saturating_sub(1) }
        })
    }

    /// Iterates over the allocations that have a block at the end, in no particular order.
    pub fn end_allocations(&self) -> impl Iterator<Item = AllocationId> {
        self.end_blocks.keys().map(|&id| AllocationId(id))
    }

    /// Returns the row of an allocation's block in the snapshot's block table, if the allocation is live at the end.
    pub fn end_block(&self, id: AllocationId) -> Option<u32> {
        self.end_blocks.get(&id.0).copied()
    }

    /// Returns the heap size of each table, in bytes.
    pub fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        vec![
            (
                "events",
                self.events.heap_bytes()
                    + self.segment_operations.heap_bytes()
                    + self.notes.heap_bytes()
                    + self.note_events.heap_bytes()
                    + self.early_facts.heap_bytes()
                    + self.later_operations.heap_bytes(),
            ),
            ("allocations", self.allocations.heap_bytes() + self.end_blocks.heap_bytes()),
            (
                "totals",
                self.drawn.heap_bytes()
                    + self.reserved.heap_bytes()
                    + self.awaiting_free.heap_bytes()
                    + self.live_counts.heap_bytes(),
            ),
            ("live sets", self.live.heap_bytes()),
            ("annotations", self.annotations.heap_bytes()),
        ]
    }
}
