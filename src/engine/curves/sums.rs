//! Running totals of a part of a device's memory.

use super::part::Part;
use crate::device::DeviceData;
use base::column::Column;
use base::slice::{STEPS_PER_CHECK, SliceResult, TimeSlice};
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, DeviceHistory, SegmentLifetimes, Subject, Totals};
use history::snapshot::Action;

/// Quantity whose running total is computed, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Live requested bytes. For a whole device, the history already has `Requested`, `AwaitingFree` and `Reserved`.
    Requested,
    AwaitingFree,
    Reserved,
    /// Allocated (rounded) bytes, including those awaiting free. This is a lower bound, because block sizes may be
    /// unknown.
    Rounded,
    /// Requested bytes of allocations that the program has not freed yet.
    Allocated,
    /// Free (cached) bytes: reserved bytes outside active blocks. This is an upper bound. It is negative if blocks lie
    /// outside of mapped memory.
    Free,
}

/// All quantities, in the order of their discriminants.
const QUANTITIES: [Quantity; 6] = [
    Quantity::Requested,
    Quantity::AwaitingFree,
    Quantity::Reserved,
    Quantity::Rounded,
    Quantity::Allocated,
    Quantity::Free,
];

/// Running totals of a part of memory. They cover the events that were processed so far.
pub(crate) struct RunningTotals {
    pub(crate) device: i64,
    pub(crate) part: Part,
    /// Change of the part's mapped bytes at each segment operation. Empty if the part is a whole device.
    mapped_changes: Column<i64>,
    /// Total of each quantity before the first event.
    base: [i64; QUANTITIES.len()],
    /// Running total of each quantity. Empty for quantities whose total is stored in the history.
    totals: [Totals; QUANTITIES.len()],
    work: Work,
}

base::heap_bytes!(RunningTotals: [totals], mapped_changes);

enum Work {
    Start,
    /// Adds the mapped ranges, starting at this index.
    Ranges(usize),
    /// Adds the allocations that were live before the first event, starting at this id.
    Early(usize),
    /// Adds the changes at the events, starting at this index.
    Events(u32),
    Done,
}

/// Converts bytes to a signed number. Values that are too large become [`i64::MAX`].
fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

impl RunningTotals {
    /// Creates totals that are filled by [`RunningTotals::step`].
    pub(crate) fn new(device: i64, part: Part) -> RunningTotals {
        let (mapped_changes, base) = Default::default();
        RunningTotals {
            device,
            part,
            mapped_changes,
            base,
            totals: QUANTITIES.map(|_| Totals::new(0)),
            work: Work::Start,
        }
    }

    /// Returns the running total of a quantity, from the history if it has that total.
    pub(crate) fn totals<'a>(&'a self, history: &'a DeviceHistory, kind: Quantity) -> &'a Totals {
        match kind {
            Quantity::Requested if self.part.is_all() => &history.drawn,
            Quantity::AwaitingFree if self.part.is_all() => &history.awaiting_free,
            Quantity::Reserved if self.part.is_all() => &history.reserved,
            kind => &self.totals[kind as usize],
        }
    }

    /// Returns the change of a quantity at `event`, in bytes.
    pub(crate) fn change(&self, data: DeviceData<'_>, kind: Quantity, event: EventIdx) -> i64 {
        self.changes(data, event)[kind as usize]
    }

    /// Returns the change of each quantity at `event`, in bytes.
    fn changes(&self, data: DeviceData<'_>, event: EventIdx) -> [i64; QUANTITIES.len()] {
        let history = data.history;
        let Some(change) = history.allocation_change(event) else {
            let mapped = match history.events.subject(event.0) {
                Subject::Segment(_) if self.part.is_all() => history.reserved_change(event),
                Subject::Segment(operation) => self.mapped_changes.get(operation as usize).unwrap_or(0),
                _ => 0,
            };
            return [0, 0, mapped, 0, 0, mapped];
        };
        if !change.changes() || !self.part.contains(data, change.id) {
            return [0; QUANTITIES.len()];
        }
        let rounded = match change.starts_lifetime {
            Some(starts_lifetime) => signed(data.rounded_size(change.id).0) * if starts_lifetime { 1 } else { -1 },
            None => 0,
        };
        let allocated = change.bytes().saturating_sub(change.awaiting_free);
        [change.bytes(), change.awaiting_free, 0, rounded, allocated, -rounded]
    }

    /// Continues adding up the totals until they are complete or the time slice is used up. `lives` must be complete.
    pub(crate) fn step(
        &mut self,
        data: DeviceData<'_>,
        lives: &SegmentLifetimes,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let history = data.history;
        loop {
            self.work = match self.work {
                Work::Start => {
                    self.part.locate_segment(lives);
                    if self.part.is_all() { self.start_whole_device(history) } else { self.start_part(history) }
                }
                Work::Ranges(next) => {
                    let end = lives.ranges.len().min(next + STEPS_PER_CHECK as usize);
                    (next..end).for_each(|id| self.add_range(history, lives, AllocationId(id as u32)));
                    if end < lives.ranges.len() { Work::Ranges(end) } else { Work::Early(0) }
                }
                Work::Early(next) => {
                    let end = history.allocations.early_count().min(next + STEPS_PER_CHECK as usize);
                    (next..end).for_each(|id| self.add_early(data, AllocationId(id as u32)));
                    if end < history.allocations.early_count() { Work::Early(end) } else { self.start_events() }
                }
                Work::Events(next) => {
                    let end = history.event_count().min(next.saturating_add(STEPS_PER_CHECK));
                    (next..end).for_each(|event| self.add_event(data, EventIdx(event)));
                    if end < history.event_count() { Work::Events(end) } else { Work::Done }
                }
                Work::Done => return Ok(()),
            };
            slice.check()?;
        }
    }

    fn add(&mut self, kind: Quantity, bytes: i64) {
        let base = &mut self.base[kind as usize];
        *base = base.saturating_add(bytes);
    }

    /// Adds the bytes that are reserved before the first event. The history has them for a whole device.
    fn start_whole_device(&mut self, history: &DeviceHistory) -> Work {
        self.add(Quantity::Free, history.reserved_at(Moment::START));
        Work::Early(0)
    }

    fn start_part(&mut self, history: &DeviceHistory) -> Work {
        let actions = [Action::SegmentAlloc, Action::SegmentFree, Action::SegmentMap, Action::SegmentUnmap];
        let operations: u64 = actions.iter().filter_map(|&action| history.action_counts.get(action as usize)).sum();
        self.mapped_changes = (0..operations).map(|_| 0).collect();
        Work::Ranges(0)
    }

    /// Adds the bytes of a range to the changes at the events that map and unmap it, if the range belongs to the part.
    fn add_range(&mut self, history: &DeviceHistory, lives: &SegmentLifetimes, id: AllocationId) {
        if !self.part.contains_range(lives, id) {
            return;
        }
        let (allocated_at, freed_at, size) = lives.ranges.span(id);
        if allocated_at == 0 {
            self.add(Quantity::Reserved, signed(size));
            self.add(Quantity::Free, signed(size));
        }
        let mut add_change = |moment: u32, bytes: i64| {
            let Some(event) = Moment(moment).event().filter(|event| event.0 < history.event_count()) else { return };
            let Subject::Segment(operation) = history.events.subject(event.0) else { return };
            let operation = operation as usize;
            self.mapped_changes.set(operation, self.mapped_changes.get(operation).unwrap_or(0).saturating_add(bytes));
        };
        add_change(allocated_at, signed(size));
        add_change(freed_at, -signed(size));
    }

    fn add_early(&mut self, data: DeviceData<'_>, id: AllocationId) {
        let history = data.history;
        if !self.part.contains(data, id) || !history.allocations.outlives(id, Moment::START) {
            return;
        }
        let size = signed(history.allocations.size(id));
        let pending = if history.allocations.awaiting_free_from(id) == 0 { size } else { 0 };
        let rounded = signed(data.rounded_size(id).0);
        self.add(Quantity::Requested, size);
        self.add(Quantity::AwaitingFree, pending);
        self.add(Quantity::Allocated, size - pending);
        self.add(Quantity::Rounded, rounded);
        self.add(Quantity::Free, -rounded);
    }

    fn start_events(&mut self) -> Work {
        self.totals = self.base.map(Totals::new);
        Work::Events(0)
    }

    fn add_event(&mut self, data: DeviceData<'_>, event: EventIdx) {
        let skipped = if self.part.is_all() { 3 } else { 0 };
        let changes = self.changes(data, event);
        self.totals.iter_mut().zip(changes).skip(skipped).for_each(|(total, change)| total.push(change));
    }
}
