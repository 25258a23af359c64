//! Reserved, live and free bytes at a moment by kind of segment: the sums of the allocator's state, for insights.

use super::leaks::{pool_name, stream_name};
use super::out_of_memory::{Room, Rooms};
use super::writing::{Writing, at, row};
use crate::open::OpenFile;
use crate::protocol::{Cell, StateSums};
use crate::report::column::{self, sheet};
use crate::state::DeviceState;
use base::slice::{Slice, Sliced};
use base::sorted::{pair, sorted_by_key};
use base::units::EventIdx;
use history::replay::{AllocationId, DeviceHistory, SegmentKind, SegmentLives};

/// The state at a moment, summed up.
pub(super) struct Layout {
    pub(super) moment: u32,
    pub(super) state: DeviceState,
    pub(super) rooms: Rooms,
    pub(super) whole: StateSums,
}

impl Layout {
    /// Nothing yet; of a moment that the trace has.
    pub(super) fn new(history: &DeviceHistory, lives: &SegmentLives, moment: u32) -> Layout {
        let state = DeviceState::new(history, lives, moment);
        Layout { moment, state, rooms: Rooms::default(), whole: StateSums::default() }
    }

    /// Works until it is done.
    pub(super) fn step(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        lives: &SegmentLives,
        slice: &mut Slice,
    ) -> Sliced {
        self.state.step(file, history, lives, slice)?;
        self.rooms.step(&self.state, lives, slice)?;
        self.whole = self.rooms.all;
        Ok(())
    }

    /// Writes a sheet: a row a kind, the one with the most free bytes first.
    pub(super) fn write(&self, writing: &mut Writing<'_>, key: &str, title: &str) {
        let file = writing.file;
        let summed = |key, label, cell: fn(&StateSums) -> Cell| {
            column::cell(key, label, move |room: &Room| cell(&room.sums)).total(cell(&self.whole))
        };
        let columns = [
            column::text("pool", "pool", |room: &Room| kind_name(file, &room.kind)),
            column::text("stream", "stream", |room: &Room| stream_name(room.kind.stream)),
            summed("segments", "segments", |sums| Cell::Count(sums.segments.into())),
            summed("reserved_bytes", "reserved", |sums| Cell::Bytes(sums.reserved)),
            summed("live_bytes", "live", |sums| Cell::Bytes(sums.requested)),
            summed("allocated_rounded_bytes", "≥ allocated (rounded)", |sums| Cell::Bytes(sums.rounded)),
            summed("lost_bytes", "≥ lost to rounding", |sums| {
                Cell::Bytes(sums.rounded.saturating_sub(sums.requested))
            }),
            summed("free_bytes", "≤ free (cached)", |sums| Cell::Bytes(sums.free)),
            summed("fragmentation", "≤ fragmentation", |sums| Cell::Share { part: sums.free, whole: sums.reserved }),
            summed("largest_free_bytes", "≤ largest free block", |sums| Cell::Bytes(sums.largest_free)),
            summed("free_blocks", "free blocks", |sums| Cell::Count(sums.free_blocks.into())),
            summed("scattered", "≤ free outside the largest block", |sums| Cell::Share {
                part: sums.free.saturating_sub(sums.largest_free),
                whole: sums.free,
            }),
        ];
        let explained = "By pool, stream and size class; memory without a recorded pool is listed under the default pool. Fragmentation: share of \
                    reserved bytes that is free (cached). Block sizes that are not recorded are lower bounds (≥), which makes free bytes \
                    upper bounds (≤).";
        // Once in a report.
        let is_first = writing.report.sheets.is_empty();
        let note = if is_first { explained } else { "" };
        let rooms = self.rooms.rooms.iter().collect();
        let ranked = sorted_by_key(rooms, |room: &&Room| pair(!room.sums.free, !room.sums.reserved));
        writing.fill(sheet([key, title, note], &columns), &columns, &ranked, |_, _| row(at(self.moment)));
    }
}

/// The pool, and what segments it has.
pub(super) fn kind_name(file: &OpenFile, kind: &SegmentKind) -> String {
    let mut name = pool_name(file, kind.pool, kind.small);
    name.push_str(if kind.expandable { ", expandable" } else { "" });
    name
}

/// The driver was asked for memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct DriverRequest {
    pub(super) event: u32,
    /// Bytes that were taken.
    pub(super) taken: u64,
    pub(super) kind: SegmentKind,
    /// Allocated (rounded) bytes of the allocation that needed them, where the events that follow show it: a lower bound.
    pub(super) request: Option<u64>,
}

/// Events after a request to the driver within which the allocation that needed it follows.
const NEXT_EVENTS: u32 = 4;

impl DriverRequest {
    /// What the event before a moment asked the driver for.
    pub(super) fn before(
        file: &OpenFile,
        history: &DeviceHistory,
        lives: &SegmentLives,
        moment: u32,
    ) -> Option<DriverRequest> {
        let event = moment.checked_sub(1)?;
        let first = lives.ranges.early() as u32 + lives.ranges.born_by(event);
        let range = AllocationId(first);
        let (born, _, _) = lives.ranges.span(AllocationId(first.min(lives.ranges.len().checked_sub(1)? as u32)));
        if born != moment {
            return None;
        }
        let (from, taken) = history.address_and_size(EventIdx(event));
        let later = (moment..history.event_count().min(moment + NEXT_EVENTS)).map(EventIdx);
        let mut needed = later.filter_map(|event| history.change(event)).filter(|(_, is_born)| *is_born);
        let needed = needed.find(|(id, _)| {
            history.allocations.address(*id).checked_sub(from).is_some_and(|inside| inside < taken.max(1))
        });
        let request = needed.map(|(id, _)| file.about(history).rounded(id).0);
        Some(DriverRequest { event, taken, kind: lives.kind(range)?, request })
    }

    /// Whether the free bytes of its kind would have sufficed together, but no single block.
    pub(super) fn is_scattered(&self, free: &StateSums) -> bool {
        self.request.is_some_and(|request| free.free >= request && free.largest_free < request)
    }
}
