//! Running totals of a part of a device's memory.

use super::part::Part;
use crate::device::Open;
use base::column::Column;
use base::slice::{STEPS, Slice, Sliced};
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, DeviceHistory, SegmentLives, Subject, Totals};
use history::snapshot::Action;

/// A quantity that is added up, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Requested bytes that are live. For a whole device, the history has this total and the next two.
    Requested,
    Pending,
    Reserved,
    /// Allocated (rounded) bytes, including those awaiting free. A lower bound.
    Rounded,
    /// Requested bytes whose free was not requested.
    Allocated,
    /// Free (cached) bytes: reserved and in no active block. An upper bound. Negative if blocks lie outside of mapped
    /// memory.
    Free,
}

/// All kinds, in the order of their discriminants.
const KINDS: [Kind; 6] = [Kind::Requested, Kind::Pending, Kind::Reserved, Kind::Rounded, Kind::Allocated, Kind::Free];

/// Running totals of a part of memory, as far as they are added up.
pub(crate) struct Sums {
    pub(crate) device: i64,
    pub(crate) part: Part,
    /// By segment operation: change of the mapped bytes of the part. Empty for a whole device.
    mapped: Column<i64>,
    /// By kind: total before the first event.
    base: [i64; KINDS.len()],
    /// By kind: running total. Those that the history has stay empty.
    totals: [Totals; KINDS.len()],
    work: Work,
}

enum Work {
    Begin,
    /// Adds the mapped ranges from this one on.
    Ranges(usize),
    /// Adds what was live before the first event, from this allocation on.
    Early(usize),
    /// Adds the changes of the events from this one on.
    Events(u32),
    Done,
}

/// Converts bytes to a signed number, saturating at the limit.
fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

impl Sums {
    /// Creates empty totals.
    pub(crate) fn new(device: i64, part: Part) -> Sums {
        let (mapped, base) = Default::default();
        Sums { device, part, mapped, base, totals: KINDS.map(|_| Totals::new(0)), work: Work::Begin }
    }

    /// Returns the running total of a kind.
    pub(crate) fn totals<'a>(&'a self, history: &'a DeviceHistory, kind: Kind) -> &'a Totals {
        match kind {
            Kind::Requested if self.part.is_all() => &history.drawn,
            Kind::Pending if self.part.is_all() => &history.pending,
            Kind::Reserved if self.part.is_all() => &history.reserved,
            kind => &self.totals[kind as usize],
        }
    }

    /// Returns the change of a kind at `event`, in bytes.
    pub(crate) fn change(&self, open: Open<'_>, kind: Kind, event: EventIdx) -> i64 {
        self.changes(open, event)[kind as usize]
    }

    /// Returns the change of each kind at `event`, in bytes.
    fn changes(&self, open: Open<'_>, event: EventIdx) -> [i64; KINDS.len()] {
        let history = open.history;
        let Some(turn) = history.turn(event) else {
            let mapped = match history.events.subject(event.0) {
                Subject::Segment(_) if self.part.is_all() => history.reserved_change(event),
                Subject::Segment(operation) => self.mapped.get(operation as usize).unwrap_or(0),
                _ => 0,
            };
            return [0, 0, mapped, 0, 0, mapped];
        };
        if !turn.changes() || !self.part.has(open, turn.id) {
            return [0; KINDS.len()];
        }
        let rounded = match turn.is_born {
            Some(is_born) => signed(open.rounded(turn.id).0) * if is_born { 1 } else { -1 },
            None => 0,
        };
        [turn.bytes(), turn.awaiting, 0, rounded, turn.bytes().saturating_sub(turn.awaiting), -rounded]
    }

    /// Works until all totals are added up. `lives` must be complete.
    pub(crate) fn step(&mut self, open: Open<'_>, lives: &SegmentLives, slice: &mut Slice) -> Sliced {
        let history = open.history;
        loop {
            self.work = match self.work {
                Work::Begin => {
                    self.part.find(lives);
                    if self.part.is_all() { self.all(history) } else { self.none_mapped(history) }
                }
                Work::Ranges(next) => {
                    let end = lives.ranges.len().min(next + STEPS as usize);
                    (next..end).for_each(|id| self.range(history, lives, AllocationId(id as u32)));
                    if end < lives.ranges.len() { Work::Ranges(end) } else { Work::Early(0) }
                }
                Work::Early(next) => {
                    let end = history.allocations.early().min(next + STEPS as usize);
                    (next..end).for_each(|id| self.early(open, AllocationId(id as u32)));
                    if end < history.allocations.early() { Work::Early(end) } else { self.begin() }
                }
                Work::Events(next) => {
                    let end = history.event_count().min(next.saturating_add(STEPS));
                    (next..end).for_each(|event| self.event(open, EventIdx(event)));
                    if end < history.event_count() { Work::Events(end) } else { Work::Done }
                }
                Work::Done => return Ok(()),
            };
            slice.check()?;
        }
    }

    fn add(&mut self, kind: Kind, bytes: i64) {
        let base = &mut self.base[kind as usize];
        *base = base.saturating_add(bytes);
    }

    /// Adds what the history knows of the state before the first event.
    fn all(&mut self, history: &DeviceHistory) -> Work {
        self.add(Kind::Free, history.reserved_at(Moment::START));
        Work::Early(0)
    }

    fn none_mapped(&mut self, history: &DeviceHistory) -> Work {
        let actions = [Action::SegmentAlloc, Action::SegmentFree, Action::SegmentMap, Action::SegmentUnmap];
        let operations: u64 = actions.iter().filter_map(|&of| history.action_counts.get(of as usize)).sum();
        self.mapped = (0..operations).map(|_| 0).collect();
        Work::Ranges(0)
    }

    /// Adds a mapped range, if it is in the part, at its mapping and its unmapping.
    fn range(&mut self, history: &DeviceHistory, lives: &SegmentLives, id: AllocationId) {
        if !self.part.has_range(lives, id) {
            return;
        }
        let (born, died, size) = lives.ranges.span(id);
        if born == 0 {
            self.add(Kind::Reserved, signed(size));
            self.add(Kind::Free, signed(size));
        }
        let mut grows = |moment: u32, bytes: i64| {
            let Some(event) = Moment(moment).event().filter(|event| event.0 < history.event_count()) else { return };
            let Subject::Segment(operation) = history.events.subject(event.0) else { return };
            let operation = operation as usize;
            self.mapped.set(operation, self.mapped.get(operation).unwrap_or(0).saturating_add(bytes));
        };
        grows(born, signed(size));
        grows(died, -signed(size));
    }

    fn early(&mut self, open: Open<'_>, id: AllocationId) {
        let history = open.history;
        if !self.part.has(open, id) || !history.allocations.outlives(id, Moment::START) {
            return;
        }
        let size = signed(history.allocations.size(id));
        let pending = if history.allocations.pending_from(id) == 0 { size } else { 0 };
        let rounded = signed(open.rounded(id).0);
        self.add(Kind::Requested, size);
        self.add(Kind::Pending, pending);
        self.add(Kind::Allocated, size - pending);
        self.add(Kind::Rounded, rounded);
        self.add(Kind::Free, -rounded);
    }

    fn begin(&mut self) -> Work {
        self.totals = self.base.map(Totals::new);
        Work::Events(0)
    }

    fn event(&mut self, open: Open<'_>, event: EventIdx) {
        let skips = if self.part.is_all() { 3 } else { 0 };
        let changes = self.changes(open, event);
        self.totals.iter_mut().zip(changes).skip(skips).for_each(|(total, change)| total.push(change));
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.totals.iter().map(Totals::heap_bytes).sum::<usize>() + self.mapped.heap_bytes()
    }
}
