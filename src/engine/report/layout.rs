//! Reserved, live and free bytes at a moment, by kind of segment.

use super::leaks::{pool_name, stream_name};
use super::oom::{KindSums, SumsByKind};
use super::writer::{ReportWriter, evidence_row, moment_evidence};
use crate::open::OpenFile;
use crate::report::column::{self, sheet};
use crate::side::Side;
use crate::state::DeviceState;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_by_key, two_part_key};
use base::units::EventIdx;
use history::replay::{AllocationId, DeviceHistory, SegmentKind, SegmentLifetimes};
use protocol::{Cell, SegmentsSums};

/// State of the allocator after one event, with sums by kind of segment.
pub(super) struct Layout {
    pub(super) moment: u32,
    pub(super) state: DeviceState,
    pub(super) by_kind: SumsByKind,
    pub(super) total: SegmentsSums,
}

impl Layout {
    /// Creates an empty layout for a moment, which must be within the trace. [`Layout::step`] fills it.
    pub(super) fn new(history: &DeviceHistory, lives: &SegmentLifetimes, moment: u32) -> Layout {
        let state = DeviceState::new(history, lives, moment);
        Layout { moment, state, by_kind: SumsByKind::default(), total: SegmentsSums::default() }
    }

    /// Continues building the allocator state and the sums by kind of segment.
    pub(super) fn step(&mut self, side: Side<'_>, lives: &SegmentLifetimes, slice: &mut TimeSlice) -> SliceResult {
        self.state.step(side, lives, slice)?;
        self.by_kind.step(&self.state, lives, slice)?;
        self.total = self.by_kind.total;
        Ok(())
    }

    /// Writes a table with one row per kind of segment. Kinds with the most free bytes come first.
    pub(super) fn write(&self, writer: &mut ReportWriter<'_>, key: &str, title: &str) {
        let file = writer.side.file;
        let summed = |key, label, cell: fn(&SegmentsSums) -> Cell| {
            column::cell(key, label, move |kind: &KindSums| cell(&kind.sums)).total(cell(&self.total))
        };
        let columns = [
            column::text("pool", "pool", |row: &KindSums| kind_name(file, &row.kind)),
            column::text("stream", "stream", |row: &KindSums| stream_name(row.kind.stream)),
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
        // The explanation appears only once per report.
        let is_first = writer.report.sheets.is_empty();
        let note = if is_first { explained } else { "" };
        let rows = self.by_kind.kinds.iter().collect();
        let ranked = sorted_by_key(rows, |row: &&KindSums| two_part_key(!row.sums.free, !row.sums.reserved));
        writer.add_sheet(sheet([key, title, note], &columns), &columns, &ranked, |_, _| {
            evidence_row(moment_evidence(self.moment))
        });
    }
}

/// Returns the display name of a kind of segment: pool, size class, and whether it is expandable.
pub(super) fn kind_name(file: &OpenFile, kind: &SegmentKind) -> String {
    let name =
        format!("{}{}", pool_name(file, kind.pool, kind.small), if kind.expandable { ", expandable" } else { "" });
    name
}

/// A request to the driver for a new segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct DriverRequest {
    pub(super) event: u32,
    /// Bytes that the driver provided in response.
    pub(super) reserved: u64,
    pub(super) kind: SegmentKind,
    /// Rounded size of the allocation that caused the request, or a lower bound. `None` if the allocation is not among
    /// the next [`MAX_SEARCHED_EVENTS`] events.
    pub(super) request: Option<u64>,
}

/// Maximum number of events after a driver request that are searched for the allocation that caused the request.
const MAX_SEARCHED_EVENTS: u32 = 4;

impl DriverRequest {
    /// Returns the driver request at the last event before `moment`. `None` if that event did not reserve memory.
    pub(super) fn before(side: Side<'_>, lives: &SegmentLifetimes, moment: u32) -> Option<DriverRequest> {
        let event = moment.checked_sub(1)?;
        let first = lives.ranges.early_count() as u32 + lives.ranges.allocated_by(event);
        let range = AllocationId(first);
        let (allocated_at, _, _) =
            lives.ranges.span(AllocationId(first.min(lives.ranges.len().checked_sub(1)? as u32)));
        if allocated_at != moment {
            return None;
        }
        let (from, reserved) = side.history.address_and_size(EventIdx(event));
        let later = (moment..side.history.event_count().min(moment + MAX_SEARCHED_EVENTS)).map(EventIdx);
        let mut needed = later
            .filter_map(|event| side.history.lifetime_change(event))
            .filter(|(_, starts_lifetime)| *starts_lifetime);
        let needed = needed.find(|(id, _)| {
            // In an expandable segment, a block may start in the free memory before the new range.
            let start = side.history.allocations.address(*id);
            let end = start.saturating_add(side.device_data().rounded_size(*id).0.max(1));
            start < from.saturating_add(reserved.max(1)) && from < end
        });
        let request = needed.map(|(id, _)| side.device_data().rounded_size(id).0);
        Some(DriverRequest { event, reserved, kind: lives.kind(range)?, request })
    }

    /// Returns whether the free bytes of these segments were sufficient for the allocation in total, but no single
    /// block was large enough.
    pub(super) fn is_scattered(&self, free: &SegmentsSums) -> bool {
        self.request.is_some_and(|request| free.free >= request && free.largest_free < request)
    }
}
