//! A part of what was held from the driver: the ranges that are wanted, as if there were no others.

use super::{AllocationId, Allocations, Column, Curve, DeviceHistory, EventIdx, ROWS_PER_CHECK, SegmentLives, Subject};
use super::{Totals, signed};

/// Some of the ranges of a device, with the ids they have among all; the others are there, of no bytes.
#[derive(Clone, Debug)]
pub struct SegmentPart {
    /// The ranges. What is live when is as in [`SegmentLives::live`].
    pub ranges: Allocations,
    /// Their bytes at each moment.
    pub mapped: Totals,
    /// By segment operation: by how many bytes `mapped` grows.
    changes: Column<i64>,
    base: i64,
    /// The range, then the event that comes next.
    next: usize,
    next_event: Option<u32>,
}

impl SegmentPart {
    /// Nothing taken yet.
    pub fn new(history: &DeviceHistory) -> SegmentPart {
        SegmentPart {
            ranges: Allocations::default(),
            mapped: Totals::new(0),
            changes: (0..history.segment_operations.len()).map(|_| 0).collect(),
            base: 0,
            next: 0,
            next_event: None,
        }
    }

    /// Takes those of `lives` that are wanted while there is time; `true` when done. All must be the same every time.
    pub fn step(
        &mut self,
        lives: &SegmentLives,
        history: &DeviceHistory,
        is_wanted: &dyn Fn(AllocationId) -> bool,
        has_time: &mut dyn FnMut() -> bool,
    ) -> bool {
        while self.next < lives.ranges.len() {
            let end = lives.ranges.len().min(self.next + ROWS_PER_CHECK);
            (self.next..end).for_each(|id| self.take(lives, history, AllocationId(id as u32), is_wanted));
            self.next = end;
            if !has_time() {
                return false;
            }
        }
        if self.next_event.is_none() {
            self.ranges.statics = self.ranges.early() as u32;
            (self.mapped, self.next_event) = (Totals::new(self.base), Some(0));
        }
        let mut next = self.next_event.unwrap_or(0);
        while next < history.event_count() {
            let end = history.event_count().min(next.saturating_add(ROWS_PER_CHECK as u32));
            (next..end).for_each(|event| self.mapped.push(self.change(history, EventIdx(event))));
            next = end;
            self.next_event = Some(next);
            if !has_time() {
                return next >= history.event_count();
            }
        }
        true
    }

    fn take(
        &mut self,
        lives: &SegmentLives,
        history: &DeviceHistory,
        id: AllocationId,
        is_wanted: &dyn Fn(AllocationId) -> bool,
    ) {
        let (born, died, size) = lives.ranges.span(id);
        let size = if is_wanted(id) { size } else { 0 };
        if born > 0 {
            self.ranges.born.push(born);
        }
        if let Some(part) = self.ranges.parts.get_mut(usize::from(born > 0)) {
            part.push_row(lives.ranges.address(id), size, died, died);
        }
        match lives.ranges.born(id).event() {
            Some(event) => self.add(history, event, signed(size)),
            None => self.base = self.base.saturating_add(signed(size)),
        }
        if let Some(event) = lives.ranges.died(id).and_then(|moment| moment.event()) {
            self.add(history, event, -signed(size));
        }
    }

    fn add(&mut self, history: &DeviceHistory, event: EventIdx, bytes: i64) {
        if let Subject::Segment(operation) = history.events.subject(event.0) {
            let before = self.changes.get(operation as usize).unwrap_or(0);
            self.changes.set(operation as usize, before.saturating_add(bytes));
        }
    }

    /// By how many bytes what is mapped of it grows at `event`.
    pub fn change(&self, history: &DeviceHistory, event: EventIdx) -> i64 {
        let Subject::Segment(operation) = history.events.subject(event.0) else { return 0 };
        self.changes.get(operation as usize).unwrap_or(0)
    }

    /// Its bytes at a moment, where `change` is [`SegmentPart::change`].
    pub fn curve<'a>(&'a self, change: &'a dyn Fn(EventIdx) -> i64) -> Curve<'a> {
        Curve::new(&self.mapped, change)
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.ranges.heap_bytes() + self.mapped.heap_bytes() + self.changes.heap_bytes()
    }
}
