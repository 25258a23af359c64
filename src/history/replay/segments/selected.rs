//! History of the reserved memory in selected address ranges.

use super::{AllocationId, Allocations, Column, Curve, DeviceHistory, EventIdx, SegmentLifetimes, Subject, Totals};
use crate::replay::trace::to_signed;
use base::slice::{SliceResult, TimeSlice};

/// Address ranges of a device's reserved memory, with the same ids as in [`SegmentLifetimes`]. Ranges that are not
/// selected have size zero.
#[derive(Clone, Debug)]
pub struct SelectedSegments {
    /// All ranges. Use [`SegmentLifetimes::live`] to find those that exist at a moment.
    pub ranges: Allocations,
    /// Mapped bytes of the selected ranges at each moment.
    pub mapped: Totals,
    /// Change of `mapped` at each segment operation, in bytes.
    changes: Column<i64>,
    base: i64,
    /// Id of the next range to add.
    next: usize,
    /// Next event to add to `mapped`, once all ranges are added.
    next_event: Option<usize>,
}

base::heap_bytes!(SelectedSegments: ranges, mapped, changes);

impl SelectedSegments {
    /// Creates the state before the first range is added.
    pub fn new(history: &DeviceHistory) -> SelectedSegments {
        SelectedSegments {
            ranges: Allocations::default(),
            mapped: Totals::new(0),
            changes: (0..history.segment_operations.len()).map(|_| 0).collect(),
            base: 0,
            next: 0,
            next_event: None,
        }
    }

    /// Continues adding the ranges of `lifetimes` that `is_wanted` selects, until all are added or the time slice is
    /// used up. Every call must pass the same arguments.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up.
    pub fn step(
        &mut self,
        lifetimes: &SegmentLifetimes,
        history: &DeviceHistory,
        is_wanted: &dyn Fn(AllocationId) -> bool,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        while let Some(part) = slice.next_range(&mut self.next, lifetimes.ranges.len(), 1)? {
            part.for_each(|id| self.add_range(lifetimes, history, AllocationId(id as u32), is_wanted));
        }
        if self.next_event.is_none() {
            self.ranges.static_count = self.ranges.early_count() as u32;
            (self.mapped, self.next_event) = (Totals::new(self.base), Some(0));
        }
        let next = self.next_event.get_or_insert(0);
        while let Some(part) = slice.next_range(next, history.event_count() as usize, 1)? {
            for event in part {
                let Subject::Segment(operation) = history.events.subject(event as u32) else {
                    self.mapped.push(0);
                    continue;
                };
                self.mapped.push(self.changes.get(operation as usize).unwrap_or(0));
            }
        }
        Ok(())
    }

    fn add_range(
        &mut self,
        lifetimes: &SegmentLifetimes,
        history: &DeviceHistory,
        id: AllocationId,
        is_wanted: &dyn Fn(AllocationId) -> bool,
    ) {
        let (allocated_at, freed_at, size) = lifetimes.ranges.span(id);
        let size = if is_wanted(id) { size } else { 0 };
        if allocated_at > 0 {
            self.ranges.allocated_at.push(allocated_at);
        }
        if let Some(part) = self.ranges.parts.get_mut(usize::from(allocated_at > 0)) {
            part.push_row(lifetimes.ranges.address(id), size, freed_at, freed_at);
        }
        match lifetimes.ranges.allocated_at(id).event() {
            Some(event) => self.add_change(history, event, to_signed(size)),
            None => self.base = self.base.saturating_add(to_signed(size)),
        }
        if let Some(event) = lifetimes.ranges.freed_at(id).and_then(|moment| moment.event()) {
            self.add_change(history, event, -to_signed(size));
        }
    }

    fn add_change(&mut self, history: &DeviceHistory, event: EventIdx, bytes: i64) {
        if let Subject::Segment(operation) = history.events.subject(event.0) {
            let before = self.changes.get(operation as usize).unwrap_or(0);
            self.changes.set(operation as usize, before.saturating_add(bytes));
        }
    }

    /// Returns the change at `event` in the mapped bytes of the selected ranges.
    pub fn change(&self, history: &DeviceHistory, event: EventIdx) -> i64 {
        let Subject::Segment(operation) = history.events.subject(event.0) else { return 0 };
        self.changes.get(operation as usize).unwrap_or(0)
    }

    /// Returns the curve of the selected mapped bytes. `change` must call [`SelectedSegments::change`].
    pub fn curve<'a>(&'a self, change: &'a dyn Fn(EventIdx) -> i64) -> Curve<'a> {
        Curve::new(&self.mapped, change)
    }
}
