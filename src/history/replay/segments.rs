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
mod undo;

pub use selected::SelectedSegments;

use super::allocations::{AllocationId, Allocations};
use super::device_history::DeviceHistory;
use super::live::LiveSets;
use super::totals::{Curve, Totals};
use super::trace::Subject;
use crate::snapshot::{Snapshot, StackId};
use base::column::Column;
use base::slice::{STEPS_PER_CHECK, SliceResult, TimeSlice};
use base::units::EventIdx;
use hashbrown::HashMap;
use std::collections::BTreeMap;

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
}
