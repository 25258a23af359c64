//! What is reserved, active and free at a moment by kind of segment: the sums of the allocator's state, for reports.

use super::out_of_memory::Rooms;
use super::waste::{pool_name, stream_name};
use super::writing::{Writing, at, row, sheet};
use crate::open::OpenFile;
use crate::protocol::{Cell, StateSums};
use crate::state::Held;
use base::slice::{Slice, Sliced};
use base::sorted::{pair, sorted_numbers};
use base::units::EventIdx;
use history::replay::{AllocationId, DeviceHistory, SegmentKind, SegmentLives};

/// The state at a moment, summed up.
pub(super) struct Layout {
    pub(super) moment: u32,
    pub(super) held: Held,
    /// By kind of requests.
    pub(super) rooms: Rooms,
    pub(super) whole: StateSums,
}

impl Layout {
    /// Nothing yet; of a moment that the trace has.
    pub(super) fn new(history: &DeviceHistory, lives: &SegmentLives, moment: u32) -> Layout {
        let held = Held::new(history, lives, moment);
        Layout { moment, held, rooms: Rooms::default(), whole: StateSums::default() }
    }

    /// Works until it is done.
    pub(super) fn step(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        lives: &SegmentLives,
        slice: &mut Slice,
    ) -> Sliced {
        self.held.step(file, history, lives, slice)?;
        self.rooms.step(&self.held, lives, slice)?;
        self.whole = self.rooms.all;
        Ok(())
    }

    /// Writes a sheet: a row a kind, the one with the most free bytes first.
    pub(super) fn write(&self, writing: &mut Writing<'_>, key: &str, title: &str) {
        let mut sheet = sheet(
            [
                key,
                title,
                "By pool, stream and size class; what the file does not tell the pool of is told as of the default one. Rounded bytes are recorded or the fewest that they may have been, so what is lost to \
                 rounding is at least so much (internal fragmentation) and what is free at most (external). Scattered: the part of the \
                 free bytes that is not in the largest free block.",
            ],
            &[
                ["pool", "pool"],
                ["stream", "stream"],
                ["segments", "segments"],
                ["reserved", "reserved"],
                ["requested", "active, requested"],
                ["rounded", "≥ active, rounded"],
                ["lost", "≥ lost to rounding"],
                ["free", "≤ free"],
                ["free_share", "≤ free of reserved"],
                ["largest_free", "≤ largest free block"],
                ["free_blocks", "free blocks"],
                ["scattered", "≤ scattered"],
            ],
        );
        let cells = |sums: &StateSums| {
            let scattered = sums.free.saturating_sub(sums.largest_free);
            [
                Cell::Count(sums.segments.into()),
                Cell::Bytes(sums.reserved),
                Cell::Bytes(sums.requested),
                Cell::Bytes(sums.rounded),
                Cell::Bytes(sums.rounded.saturating_sub(sums.requested)),
                Cell::Bytes(sums.free),
                Cell::Share { part: sums.free, whole: sums.reserved },
                Cell::Bytes(sums.largest_free),
                Cell::Count(sums.free_blocks.into()),
                Cell::Share { part: scattered, whole: sums.free },
            ]
        };
        sheet.total = vec![Cell::Nothing; 2];
        sheet.total.extend(cells(&self.whole));
        let rooms = (0u32..).zip(&self.rooms.rooms);
        let ranked = rooms.map(|(number, room)| (pair(!room.sums.free, !room.sums.reserved), number));
        writing.fill(sheet, &sorted_numbers(ranked.collect()), |_, number| {
            let Some(room) = self.rooms.rooms.get(number as usize) else { return Default::default() };
            let mut all = vec![Cell::Text(kind_name(&room.kind)), Cell::Text(stream_name(room.kind.stream))];
            all.extend(cells(&room.sums));
            row(all, at(self.moment))
        });
    }
}

/// The pool, and what segments it has.
pub(super) fn kind_name(kind: &SegmentKind) -> String {
    let mut name = pool_name(kind.pool, kind.small);
    name.push_str(if kind.expandable { ", expandable" } else { "" });
    name
}

/// The driver was asked for memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// The event that tells.
    pub(super) event: u32,
    /// Bytes that were taken.
    pub(super) taken: u64,
    /// Their kind.
    pub(super) kind: SegmentKind,
    /// Rounded bytes of the allocation that needed them, where the events that follow tell it: at least so many.
    pub(super) request: Option<u64>,
}

/// Events after a request to the driver within which the allocation comes that needed it.
const NEXT_EVENTS: u32 = 4;

impl Asked {
    /// What the event before a moment asked the driver for.
    pub(super) fn before(file: &OpenFile, history: &DeviceHistory, lives: &SegmentLives, moment: u32) -> Option<Asked> {
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
        Some(Asked { event, taken, kind: lives.kind(range)?, request })
    }

    /// Whether what was free of its kind would have sufficed together, and no block of it alone.
    pub(super) fn is_scattered(&self, free: &StateSums) -> bool {
        self.request.is_some_and(|request| free.free >= request && free.largest_free < request)
    }
}
