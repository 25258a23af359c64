//! What is known of one device.

use super::allocations::{AllocationId, Allocations, Provenance};
use super::kept::{Behind, Facts, Loaded, Origin};
use super::live::LiveSets;
use super::numbers::Numbers;
use super::pending::pending_change;
use super::totals::{Curve, Totals};
use super::trace::{Annotated, Events, Subject, signed};
use crate::snapshot::{Action, AnnotationRange, LabelsId};
use base::column::Column;
use base::units::{EventIdx, Moment};
use hashbrown::HashMap;

/// Moments between two counts of what is live: few enough to recompute in well under a microsecond.
pub(super) const MOMENTS_PER_COUNT: u32 = 64;

/// The history of one device: its events, its allocations, its totals.
#[derive(Clone, Debug)]
pub struct DeviceHistory {
    /// The device's ordinal; −1 is host (pinned) memory.
    pub device: i64,
    pub events: Events,
    /// How many events of each [`Action`], in the order of `Action::ALL`.
    pub action_counts: [u64; Action::ALL.len()],
    pub allocations: Allocations,
    /// The numbers.
    pub numbers: Numbers,
    /// Annotations as ranges of time, by start.
    pub annotations: Vec<AnnotationRange>,
    /// What is live when.
    pub live: LiveSets,
    /// Requested bytes of the drawn stack at each moment.
    pub drawn: Totals,
    /// Reserved bytes at each moment.
    pub reserved: Totals,
    /// Requested bytes of the drawn stack whose free was requested and has not completed: live, but no longer allocated.
    pub pending: Totals,
    /// How many allocations are live at every [`MOMENTS_PER_COUNT`]-th moment.
    pub(super) live_counts: Column<u32>,
    /// The block of each allocation that is live at the end, as a row of the snapshot's block table.
    pub(super) end_blocks: HashMap<u32, u32, foldhash::fast::RandomState>,
    pub(super) segment_operations: Column<(u64, u64)>,
    pub(super) notes: Column<(u64, u64)>,
    /// What is known of allocations from before the range, and what happened to segments behind it, where a range of the trace is loaded.
    pub(super) facts: Column<Facts>,
    pub(super) behind: Column<Behind>,
    pub(super) behind_count: u64,
    pub(super) note_events: Column<u32>,
    pub(super) annotated: Annotated,
    /// Which action ends a block's life: `free_completed`, or `free_requested` where the trace has no other.
    pub(super) ends: Action,
}

/// What an event does to an allocation.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    pub id: AllocationId,
    /// The first moment after it.
    pub moment: u32,
    /// Requested bytes of the allocation.
    pub size: u64,
    /// Whether it brings it to life (`true`) or ends it (`false`), if it does either.
    pub is_born: Option<bool>,
    /// By how many bytes what awaits its free grows.
    pub awaiting: i64,
    /// Whether it is no longer allocated from here on: its free is requested, or completes without that.
    pub ends: bool,
}

impl Turn {
    /// Whether anything that is live or awaits its free changes.
    pub fn changes(&self) -> bool {
        self.is_born.is_some() || self.awaiting != 0
    }

    /// By how many bytes what is live grows.
    pub fn bytes(&self) -> i64 {
        match self.is_born {
            Some(true) => signed(self.size),
            Some(false) => -signed(self.size),
            None => 0,
        }
    }
}

impl DeviceHistory {
    /// How many events the trace has; moments run from 0 to this number.
    pub fn event_count(&self) -> u32 {
        self.events.len()
    }

    /// The range of the trace that is loaded; `None`: all of it.
    pub fn loaded(&self) -> Option<Loaded> {
        let loaded = Loaded { first: self.events.first(), behind: self.behind_count };
        (loaded != Loaded::default()).then_some(loaded)
    }

    /// The first moment that is known: the state before the first event that is loaded.
    pub fn first_moment(&self) -> Moment {
        Moment(self.events.first())
    }

    /// Where an allocation from before the range comes from, where events that were dropped say so.
    pub fn origin(&self, id: AllocationId) -> Option<Origin> {
        let index = id.0.checked_sub(self.allocations.unexplained + self.allocations.statics)?;
        self.facts.get(index as usize).map(|facts| facts.origin).filter(Origin::is_known)
    }

    /// The allocation an event is about, if it is about one.
    pub fn allocation_of(&self, event: EventIdx) -> Option<AllocationId> {
        self.allocations.id(self.events.subject(event.0))
    }

    /// Address and bytes of an event: of its allocation, its segment operation, or its own (`oom`: free and requested bytes).
    pub fn address_and_size(&self, event: EventIdx) -> (u64, u64) {
        match self.events.subject(event.0) {
            Subject::Segment(index) => self.segment_operations.get(index as usize).unwrap_or_default(),
            Subject::Note(index) => self.notes.get(index as usize).unwrap_or_default(),
            _ => {
                self.allocation_of(event).map_or((0, 0), |id| (self.allocations.address(id), self.allocations.size(id)))
            }
        }
    }

    /// The events that are neither about an allocation nor about a segment: `oom`, `snapshot`, `annotate`. In order.
    pub fn note_events(&self) -> impl Iterator<Item = u32> + '_ {
        self.note_events.iter()
    }

    /// The labels of the newest `annotate` event on an allocation.
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

    /// What `event` does to an allocation, if it is about one. Called, not copied into every loop over the events.
    #[inline(never)]
    pub fn turn(&self, event: EventIdx) -> Option<Turn> {
        let action = self.events.action(event.0);
        let id = self.allocations.id(self.events.subject_of(event.0, action))?;
        let (moment, size) = (Moment::after(event).0, self.allocations.size(id));
        let mut turn = Turn { id, moment, size, is_born: Some(true), awaiting: 0, ends: false };
        if action != Action::Alloc {
            let [from, died] = self.allocations.pending(id);
            turn.is_born = (action == self.ends && died == moment).then_some(false);
            turn.awaiting = pending_change([from, died], action, self.ends, moment) * signed(size);
            turn.ends = died.min(from) == moment;
        }
        Some(turn)
    }

    /// The allocation that `event` brings to life (`true`) or ends (`false`), if it does either.
    pub fn change(&self, event: EventIdx) -> Option<(AllocationId, bool)> {
        let action = self.events.action(event.0);
        let is_birth = action == Action::Alloc;
        // Nothing need be looked up of what does neither.
        if !is_birth && action != self.ends {
            return None;
        }
        let id = self.allocations.id(self.events.subject_of(event.0, action))?;
        (is_birth || self.allocations.died(id) == Some(Moment::after(event))).then_some((id, is_birth))
    }

    /// By how many bytes the drawn stack grows at `event`.
    pub fn drawn_change(&self, event: EventIdx) -> i64 {
        self.turn(event).map_or(0, |turn| turn.bytes())
    }

    /// By how many bytes reserved memory grows at `event`.
    pub fn reserved_change(&self, event: EventIdx) -> i64 {
        let Subject::Segment(index) = self.events.subject(event.0) else { return 0 };
        let size = self.segment_operations.get(index as usize).unwrap_or_default().1 as i64;
        match self.events.action(event.0) {
            Action::SegmentAlloc | Action::SegmentMap => size,
            _ => -size,
        }
    }

    /// By how many bytes the pending part of the drawn stack grows at `event`.
    pub fn pending_change(&self, event: EventIdx) -> i64 {
        self.turn(event).map_or(0, |turn| turn.awaiting)
    }

    /// The same of an event that is known to do `action` to `id`.
    #[inline(always)]
    pub(super) fn pending_change_of(&self, id: AllocationId, action: Action, event: EventIdx) -> i64 {
        let change = pending_change(self.allocations.pending(id), action, self.ends, Moment::after(event).0);
        change * signed(self.allocations.size(id))
    }

    /// Requested bytes of the drawn stack at `moment`.
    pub fn drawn_at(&self, moment: Moment) -> i64 {
        Curve::new(&self.drawn, &|event| self.drawn_change(event)).at(moment)
    }

    /// The first moment of the peak of the drawn stack, and its requested bytes.
    pub fn most_live(&self) -> (Moment, u64) {
        let change = |event| self.drawn_change(event);
        let most = Curve::new(&self.drawn, &change).max_in(0..self.drawn.moment_count());
        most.map_or((Moment(0), 0), |(moment, bytes)| {
            (moment.max(self.first_moment()), u64::try_from(bytes).unwrap_or(0))
        })
    }

    /// The first moment of the most reserved bytes.
    pub fn most_reserved(&self) -> Moment {
        let change = |event| self.reserved_change(event);
        let most = Curve::new(&self.reserved, &change).max_in(0..self.reserved.moment_count());
        most.map_or(Moment(0), |(moment, _)| moment.max(self.first_moment()))
    }

    /// Reserved bytes at `moment`.
    pub fn reserved_at(&self, moment: Moment) -> i64 {
        Curve::new(&self.reserved, &|event| self.reserved_change(event)).at(moment)
    }

    /// How many allocations are live at `moment`, those of no bytes included; beyond the last moment, as many as at that.
    pub fn live_count_at(&self, moment: Moment) -> u32 {
        let moment = moment.0.min(self.event_count());
        let block = moment / MOMENTS_PER_COUNT;
        let events = (block * MOMENTS_PER_COUNT..moment).map(EventIdx);
        let changes = events.filter_map(|event| self.change(event));
        changes.fold(self.live_counts.get(block as usize).unwrap_or(0), |count, (_, born)| {
            if born { count.saturating_add(1) } else { count.saturating_sub(1) }
        })
    }

    /// The allocations that have a block at the end, in no order.
    pub fn end_allocations(&self) -> impl Iterator<Item = AllocationId> {
        self.end_blocks.keys().map(|&id| AllocationId(id))
    }

    /// The row of the allocation's block in the snapshot's block table, if it is live at the end.
    pub fn end_block(&self, id: AllocationId) -> Option<u32> {
        self.end_blocks.get(&id.0).copied()
    }

    /// Bytes on the heap, by table.
    pub fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        vec![
            (
                "events",
                self.events.heap_bytes()
                    + self.segment_operations.heap_bytes()
                    + self.notes.heap_bytes()
                    + self.note_events.heap_bytes()
                    + self.facts.heap_bytes()
                    + self.behind.heap_bytes(),
            ),
            ("allocations", self.allocations.heap_bytes() + self.end_blocks.allocation_size()),
            (
                "totals",
                self.drawn.heap_bytes()
                    + self.reserved.heap_bytes()
                    + self.pending.heap_bytes()
                    + self.live_counts.heap_bytes(),
            ),
            ("live sets", self.live.heap_bytes()),
            ("annotations", self.annotations.capacity() * size_of::<AnnotationRange>()),
        ]
    }
}
