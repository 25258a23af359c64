//! History of reserved memory: every address range from the event that mapped it to the one that released it.
//!
//! The file contains the segments at the end. From there the trace is undone event by event. A range that an event
//! mapped did not exist before it, and a range that an event released did.
//!
//! ```text
//! at the end              [==========]        [====]
//! undo segment_map            −−−−−−                       allocated at this event; the rest continues
//! undo segment_free                     [++]               freed at this event
//! at the moment before    [==]          [++]  [====]
//! ```
//! A range that is mapped at once and unmapped in parts becomes several ranges, each with a single lifetime.

mod selected;

pub use selected::SelectedSegments;

use super::allocations::{AllocationId, Allocations};
use super::device_history::DeviceHistory;
use super::live::LiveSets;
use super::loaded_range::LaterOperation;
use super::totals::{Curve, Totals};
use super::trace::{NEVER, Subject, to_signed};
use crate::snapshot::{Action, LabelsId, Snapshot, StackId};
use base::column::Column;
use base::slice::{STEPS_PER_CHECK, SliceResult, TimeSlice};
use base::units::{EventIdx, Moment};
use hashbrown::HashMap;
use std::collections::BTreeMap;

/// Size in bytes of segments for small blocks (`kSmallBuffer`). Segments for large blocks are larger.
const SMALL_SEGMENT: u64 = 2 << 20;
/// Granularity in bytes of expandable segments for large blocks (`kLargeBuffer`).
const LARGE_PAGE: u64 = 20 << 20;

/// Properties of a segment that determine which requests it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SegmentKind {
    /// Memory pool, if recorded by the segment or its events. `(0, 0)` is the default pool.
    pub pool: Option<(u64, u64)>,
    /// Stream of the segment's blocks, if recorded.
    pub stream: Option<u64>,
    /// True if the segment belongs to the pool of small blocks. Inferred from the size if the segment does not exist at
    /// the end.
    pub small: bool,
    pub expandable: bool,
}

impl SegmentKind {
    /// Returns whether adjacent ranges of these kinds belong to one segment. Expandable segments are far from each
    /// other in the address space, so properties that are unknown or inferred are not compared.
    fn may_be_one_segment(&self, other: &SegmentKind) -> bool {
        let fits = |first: Option<u64>, second: Option<u64>| first.is_none() || second.is_none() || first == second;
        let pools = self.pool.is_none() || other.pool.is_none() || self.pool == other.pool;
        self == other || (self.expandable && other.expandable && pools && fits(self.stream, other.stream))
    }
}

/// Address ranges of one device's reserved memory. Empty until [`SegmentLifetimes::step`] has finished.
#[derive(Clone, Debug)]
pub struct SegmentLifetimes {
    /// Ranges with address, size and lifetime. Ids are in the order of allocation. Ranges that are allocated at the
    /// same moment are ordered by address.
    pub ranges: Allocations,
    /// Checkpoints for finding the ranges that exist at a moment.
    pub live: LiveSets,
    /// Mapped bytes at each moment. In a complete file they equal [`DeviceHistory::reserved`].
    pub mapped: Totals,
    /// Change of `mapped` at each segment operation, in bytes.
    changes: Column<i64>,
    kinds: Vec<SegmentKind>,
    kind_indices: HashMap<SegmentKind, u32, foldhash::fast::RandomState>,
    facts: Column<RangeInfo>,
    /// Ranges whose lifetime is known, newest first. Used only while the trace is being undone.
    rows: Column<ClosedRange>,
    /// Number of bytes that events mapped but that do not exist after these events. Nonzero if the file contradicts
    /// itself.
    pub missing_bytes: u64,
    /// Number of ranges compared since the last check of the time slice.
    compared: usize,
    work: Work,
}

base::heap_bytes!(SegmentLifetimes: ranges, live, mapped, changes, facts, kinds);

/// Properties of a range other than its lifetime.
#[derive(Clone, Copy, Debug)]
struct RangeInfo {
    /// Index of the segment's properties in `kinds`.
    kind: u32,
    /// True if a segment starts with this range, even if the range below is adjacent.
    starts_segment: bool,
    /// Index of the range's segment in the snapshot, or `u32::MAX` if it does not exist at the end.
    segment: u32,
}

/// Range that exists at the moment reached by undoing events. The event that mapped the range has not been reached. The
/// maps are keyed by the range's address.
#[derive(Clone, Copy, Debug)]
struct OpenRange {
    end: u64,
    freed_at: u32,
    facts: RangeInfo,
}

/// Range with a known lifetime.
#[derive(Clone, Copy, Debug)]
struct ClosedRange {
    address: u64,
    size: u64,
    allocated_at: u32,
    freed_at: u32,
    facts: RangeInfo,
}

#[derive(Clone, Debug)]
enum Work {
    /// Adding the segments at the end. Holds the index of the next segment, and the open ranges.
    EndSegments(usize, BTreeMap<u64, OpenRange>),
    /// Undoing the operations after the loaded range. Holds the number of operations left, and the open ranges.
    UndoLater(usize, BTreeMap<u64, OpenRange>),
    /// Undoing the events. Holds the number of events left, and the open ranges.
    Undo(u32, BTreeMap<u64, OpenRange>),
    /// Adding the ranges that were mapped before recording. Holds the open ranges, and the total size of the ranges
    /// added so far.
    InitialRanges(BTreeMap<u64, OpenRange>, i64),
    /// Reversing the rows into the order of allocation. Holds the number of rows left.
    ReverseRows(usize),
    /// Adding up the totals. Holds the index of the next event.
    Totals(u32),
    /// Computing the live sets.
    Live,
    Done,
}

impl Default for SegmentLifetimes {
    fn default() -> SegmentLifetimes {
        SegmentLifetimes {
            ranges: Allocations::default(),
            live: LiveSets::default(),
            mapped: Totals::new(0),
            changes: Column::new(),
            kinds: Vec::new(),
            kind_indices: HashMap::default(),
            facts: Column::new(),
            rows: Column::new(),
            missing_bytes: 0,
            compared: 0,
            work: Work::EndSegments(0, BTreeMap::new()),
        }
    }
}

/// Maximum number of ranges compared with an undone event. In a valid file, a released range overlaps no range that
/// still exists. The limit prevents quadratic time if a trace releases the same range repeatedly.
const MAX_OVERLAPS: usize = 256;
/// Number of ranges compared between two checks of the time slice.
const MAX_COMPARED: usize = 1 << 15;

impl SegmentLifetimes {
    /// Returns the kind of a range's segment.
    pub fn kind(&self, id: AllocationId) -> Option<SegmentKind> {
        self.kinds.get(self.kind_index(id)? as usize).copied()
    }

    /// Returns the kind of a range's segment, as an index into [`SegmentLifetimes::kinds`].
    pub fn kind_index(&self, id: AllocationId) -> Option<u32> {
        self.facts.get(id.0 as usize).map(|facts| facts.kind)
    }

    /// Returns all distinct kinds of segments.
    pub fn kinds(&self) -> &[SegmentKind] {
        &self.kinds
    }

    /// Returns whether a segment starts with this range. If another range is adjacent below, it belongs to another
    /// segment.
    pub fn starts_segment(&self, id: AllocationId) -> bool {
        self.facts.get(id.0 as usize).is_some_and(|facts| facts.starts_segment)
    }

    /// Returns whether two ranges belong to one segment. Both must exist at the same moment, `below` at the lower
    /// address.
    pub fn is_same_segment(&self, below: AllocationId, above: AllocationId) -> bool {
        let end = self.ranges.address(below).saturating_add(self.ranges.size(below));
        let kinds =
            || self.kind(below).zip(self.kind(above)).is_some_and(|(below, above)| below.may_be_one_segment(&above));
        end == self.ranges.address(above) && !self.starts_segment(above) && kinds()
    }

    /// Returns the index of a range's segment in the snapshot, if the segment still exists at the end.
    pub fn segment_at_end(&self, id: AllocationId) -> Option<u32> {
        self.facts.get(id.0 as usize).map(|facts| facts.segment).filter(|&segment| segment != u32::MAX)
    }

    /// Returns the stack of the event that mapped a range. If no such stack was recorded, returns the stack of the
    /// range's segment at the end, or [`StackId::NONE`].
    pub fn stack(&self, snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId) -> StackId {
        let event_stack = self.ranges.allocated_at(id).event().map(|event| history.events.stack(event.0));
        let segment_stack = || Some(snapshot.segments.get(self.segment_at_end(id)? as usize)?.stack);
        event_stack.filter(|&stack| stack != StackId::NONE).or_else(segment_stack).unwrap_or(StackId::NONE)
    }

    /// Returns the change in mapped bytes at `event`.
    pub fn change(&self, history: &DeviceHistory, event: EventIdx) -> i64 {
        let Subject::Segment(operation) = history.events.subject(event.0) else { return 0 };
        self.changes.get(operation as usize).unwrap_or(0)
    }

    /// Continues computing the ranges until they are complete or the time slice is used up. Every call must pass the
    /// same snapshot and history.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up.
    pub fn step(&mut self, snapshot: &Snapshot, history: &DeviceHistory, slice: &mut TimeSlice) -> SliceResult {
        loop {
            self.work = match std::mem::replace(&mut self.work, Work::Done) {
                Work::EndSegments(next, mut open) => {
                    let end = snapshot.segments.len().min(next + STEPS_PER_CHECK as usize);
                    (next..end).for_each(|index| self.add_end_segment(snapshot, history, index, &mut open));
                    if end < snapshot.segments.len() {
                        Work::EndSegments(end, open)
                    } else {
                        self.add_unlisted_ranges(snapshot, history, &mut open);
                        self.start_undo(history, open)
                    }
                }
                Work::UndoLater(before, mut open) => {
                    let first = before.saturating_sub(MAX_OVERLAPS);
                    (first..before)
                        .rev()
                        .for_each(|operation| self.undo_behind(snapshot, history, operation, &mut open));
                    match first {
                        0 => Work::Undo(history.event_count(), open),
                        _ => Work::UndoLater(first, open),
                    }
                }
                Work::Undo(before, mut open) => {
                    let first = before.saturating_sub(STEPS_PER_CHECK);
                    let mut next = before;
                    self.compared = 0;
                    while next > first && self.compared < MAX_COMPARED {
                        next -= 1;
                        self.undo(snapshot, history, next, &mut open);
                    }
                    if next > 0 { Work::Undo(next, open) } else { Work::InitialRanges(open, 0) }
                }
                Work::InitialRanges(open, bytes) => self.add_initial_ranges(open, bytes),
                Work::ReverseRows(before) => self.reverse_rows(before),
                Work::Totals(next) => {
                    let end = history.event_count().min(next.saturating_add(STEPS_PER_CHECK));
                    (next..end).for_each(|event| self.mapped.push(self.change(history, EventIdx(event))));
                    if end < history.event_count() { Work::Totals(end) } else { Work::Live }
                }
                Work::Live => {
                    self.work = Work::Live;
                    self.live.step(&self.ranges, history.event_count() + 1, slice)?;
                    Work::Done
                }
                Work::Done => return Ok(()),
            };
            slice.check()?;
        }
    }

    /// Adds a segment that exists at the end.
    fn add_end_segment(
        &mut self,
        snapshot: &Snapshot,
        history: &DeviceHistory,
        index: usize,
        open: &mut BTreeMap<u64, OpenRange>,
    ) {
        let Some(segment) = snapshot.segments.get(index).filter(|segment| segment.device == history.device) else {
            return;
        };
        let Some(address) = segment.address else { return };
        let kind = SegmentKind {
            pool: segment.pool,
            stream: segment.stream,
            small: segment.small,
            expandable: segment.expandable,
        };
        let facts =
            RangeInfo { kind: self.intern_kind(kind), starts_segment: !segment.expandable, segment: index as u32 };
        self.add_range(open, [address, address.saturating_add(segment.total_size)], NEVER, facts);
    }

    /// Adds the reserved ranges that exist at the end in no listed segment.
    fn add_unlisted_ranges(
        &mut self,
        snapshot: &Snapshot,
        history: &DeviceHistory,
        open: &mut BTreeMap<u64, OpenRange>,
    ) {
        for &(address, size, event) in &history.unlisted_ranges {
            let labels = snapshot.labels.labels(history.events.labels(event));
            let expandable = history.events.action(event) == Action::SegmentMap;
            let kind = SegmentKind {
                pool: labels.pool,
                stream: labels.stream,
                small: if expandable { !size.is_multiple_of(LARGE_PAGE) } else { size <= SMALL_SEGMENT },
                expandable,
            };
            let facts = RangeInfo { kind: self.intern_kind(kind), starts_segment: !expandable, segment: u32::MAX };
            self.add_range(open, [address, address.saturating_add(size)], NEVER, facts);
        }
    }

    fn start_undo(&mut self, history: &DeviceHistory, open: BTreeMap<u64, OpenRange>) -> Work {
        self.changes = (0..history.segment_operations.len()).map(|_| 0).collect();
        Work::UndoLater(history.later_operations.len(), open)
    }

    /// Undoes an event after the loaded range. Discards ranges that the event mapped. Ranges that it released exist
    /// until the end of the loaded range.
    fn undo_behind(
        &mut self,
        snapshot: &Snapshot,
        history: &DeviceHistory,
        operation: usize,
        open: &mut BTreeMap<u64, OpenRange>,
    ) {
        let Some(LaterOperation { action, address, size, labels }) = history.later_operations.get(operation) else {
            return;
        };
        let range = [address, address.saturating_add(size)];
        if matches!(action, Action::SegmentAlloc | Action::SegmentMap) {
            let (rows, missing_bytes) = (self.rows.len(), self.missing_bytes);
            self.remove_range(open, range, NEVER);
            self.rows.truncate(rows);
            self.missing_bytes = missing_bytes;
        } else {
            self.restore_range(snapshot, open, range, (action, labels), NEVER);
        }
    }

    fn intern_kind(&mut self, kind: SegmentKind) -> u32 {
        let new = self.kinds.len() as u32;
        let number = *self.kind_indices.entry(kind).or_insert(new);
        if number == new {
            self.kinds.push(kind);
        }
        number
    }

    /// Undoes an event of the loaded range.
    fn undo(&mut self, snapshot: &Snapshot, history: &DeviceHistory, event: u32, open: &mut BTreeMap<u64, OpenRange>) {
        let Subject::Segment(operation) = history.events.subject(event) else { return };
        let action = history.events.action(event);
        let moment = Moment::after(EventIdx(event)).0;
        let (address, size) = history.address_and_size(EventIdx(event));
        let range = [address, address.saturating_add(size)];
        let change = if matches!(action, Action::SegmentAlloc | Action::SegmentMap) {
            to_signed(self.remove_range(open, range, moment))
        } else {
            -to_signed(self.restore_range(snapshot, open, range, (action, history.events.labels(event)), moment))
        };
        self.changes.set(operation as usize, change);
    }

    /// Restores a released range, which existed until `moment`. Returns the number of bytes added, without ranges that
    /// already exist.
    fn restore_range(
        &mut self,
        snapshot: &Snapshot,
        open: &mut BTreeMap<u64, OpenRange>,
        range: [u64; 2],
        (action, labels): (Action, LabelsId),
        moment: u32,
    ) -> u64 {
        let labels = snapshot.labels.labels(labels);
        let size = range[1] - range[0];
        let expandable = action == Action::SegmentUnmap;
        let small = if expandable { !size.is_multiple_of(LARGE_PAGE) } else { size <= SMALL_SEGMENT };
        let inferred = SegmentKind { pool: labels.pool, stream: labels.stream, small, expandable };
        let kind = self.adjacent_kind(open, range, inferred).unwrap_or_else(|| self.intern_kind(inferred));
        self.add_range(open, range, moment, RangeInfo { kind, starts_segment: !expandable, segment: u32::MAX })
    }

    /// Returns the kind of an adjacent expandable segment that the range may belong to. This kind is preferred to the
    /// inferred one, because segments have more properties than events.
    fn adjacent_kind(
        &self,
        open: &BTreeMap<u64, OpenRange>,
        [start, end]: [u64; 2],
        inferred: SegmentKind,
    ) -> Option<u32> {
        let below = open.range(..start).next_back().filter(|(_, open)| open.end == start);
        let above = open.get(&end);
        [below.map(|(_, open)| open), above].into_iter().flatten().map(|open| open.facts.kind).find(|&number| {
            self.kinds.get(number as usize).is_some_and(|kind| kind.expandable && kind.may_be_one_segment(&inferred))
        })
    }

    /// Adds a range that is freed at the given moment, except where other ranges already exist. Returns the number of
    /// new bytes.
    fn add_range(
        &mut self,
        open: &mut BTreeMap<u64, OpenRange>,
        [start, end]: [u64; 2],
        freed_at: u32,
        facts: RangeInfo,
    ) -> u64 {
        let mut from = open.range(..start).next_back().map_or(start, |(_, open)| open.end.max(start));
        let mut holes = Vec::new();
        for (&address, existing) in open.range(start..end).take(MAX_OVERLAPS) {
            self.compared += 1;
            if from < address {
                holes.push([from, address]);
            }
            from = existing.end.max(from);
        }
        if from < end && open.range(from..end).next().is_none() {
            holes.push([from, end]);
        }
        let mut covered = 0u64;
        for [from, to] in holes {
            covered = covered.saturating_add(to - from);
            let starts_segment = facts.starts_segment && from == start;
            open.insert(from, OpenRange { end: to, freed_at, facts: RangeInfo { starts_segment, ..facts } });
        }
        covered
    }

    /// Removes a range that was mapped at the given moment, which completes its lifetime. Returns the number of removed
    /// bytes.
    fn remove_range(&mut self, open: &mut BTreeMap<u64, OpenRange>, [start, end]: [u64; 2], allocated_at: u32) -> u64 {
        let mut removed = 0u64;
        if let Some((&address, &existing)) =
            open.range(..start).next_back().filter(|(_, existing)| existing.end > start)
        {
            open.insert(address, OpenRange { end: start, ..existing });
            open.insert(start, OpenRange { facts: RangeInfo { starts_segment: false, ..existing.facts }, ..existing });
        }
        // Highest first, because rows are reversed at the end.
        while let Some((&address, &existing)) = open.range(start..end).next_back() {
            open.remove(&address);
            if existing.end > end {
                open.insert(
                    end,
                    OpenRange { facts: RangeInfo { starts_segment: false, ..existing.facts }, ..existing },
                );
            }
            let size = existing.end.min(end) - address;
            removed = removed.saturating_add(size);
            self.rows.push(ClosedRange {
                address,
                size,
                allocated_at,
                freed_at: existing.freed_at,
                facts: existing.facts,
            });
        }
        self.missing_bytes = self.missing_bytes.saturating_add((end - start).saturating_sub(removed));
        removed
    }

    /// Adds ranges that were mapped before recording started, from the highest address down. `bytes` is the total size
    /// of the ranges added by earlier calls.
    fn add_initial_ranges(&mut self, mut open: BTreeMap<u64, OpenRange>, mut bytes: i64) -> Work {
        for _ in 0..STEPS_PER_CHECK {
            let Some((address, range)) = open.pop_last() else {
                self.mapped = Totals::new(bytes);
                return Work::ReverseRows(self.rows.len());
            };
            let size = range.end - address;
            bytes = bytes.saturating_add(to_signed(size));
            self.rows.push(ClosedRange {
                address,
                size,
                allocated_at: 0,
                freed_at: range.freed_at,
                facts: range.facts,
            });
        }
        Work::InitialRanges(open, bytes)
    }

    fn reverse_rows(&mut self, before: usize) -> Work {
        let first = before.saturating_sub(STEPS_PER_CHECK as usize);
        for index in (first..before).rev() {
            let Some(row) = self.rows.get(index) else { continue };
            let ClosedRange { address, size, allocated_at, freed_at, facts } = row;
            if allocated_at > 0 {
                self.ranges.allocated_at.push(allocated_at);
            }
            if let Some(lifetimes) = self.ranges.parts.get_mut(usize::from(allocated_at > 0)) {
                lifetimes.push_row(address, size, freed_at, freed_at);
            }
            self.facts.push(facts);
        }
        if first > 0 {
            return Work::ReverseRows(first);
        }
        self.ranges.static_count = self.ranges.early_count() as u32;
        (self.rows, self.kind_indices) = Default::default();
        Work::Totals(0)
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/replay/segments.rs"]
mod tests;
