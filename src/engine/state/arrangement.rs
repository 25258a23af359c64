//! Display order of the segments, the groups of segments, and the rows that they take up.
//!
//! The default pool comes first and the unknown pool last. Within a pool, streams are in ascending order. Within a
//! stream, large segments come before small ones, because they have most of the memory. Fixed-size segments come before
//! expandable ones.

use super::device_state::DeviceState;
use crate::radix::MultiKeySort;
use base::slice::{SliceResult, TimeSlice};
use history::replay::{SegmentKind, SegmentLifetimes};
use protocol::{MemoryFilter, SegmentSort, SegmentsGroup, SegmentsSums};

/// Minimum and maximum gap between two segments in a row, in device pixels. Between these limits, the gap is an eighth
/// of the width of the segment before it, so that small segments are not outweighed by their gaps.
const GAPS: [u64; 2] = [1, 3];
/// Number of sort keys: one for the requested order, one for the segment type (small, expandable), one for the stream,
/// and two for the pool.
const KEYS: usize = 5;

/// The segments in display order, and their groups.
pub(super) struct SegmentOrder {
    pub(super) only: MemoryFilter,
    pub(super) sort: SegmentSort,
    sorting: MultiKeySort,
    /// Number of segments processed in the current pass. `is_sorted` is true once the segments to show are sorted.
    next: usize,
    is_sorted: bool,
    /// Segments in display order, as indices into [`DeviceState::segments`].
    pub(super) order: Vec<u32>,
    /// Each group, preceded by the index of its first segment in `order`. The field `row` of the groups is not set.
    pub(super) groups: Vec<(u32, SegmentsGroup)>,
    pub(super) total: SegmentsSums,
}

base::heap_bytes!(SegmentOrder: order, sorting, groups);

impl SegmentOrder {
    pub(super) fn new(only: MemoryFilter, sort: SegmentSort) -> SegmentOrder {
        let (sorting, next, is_sorted, order, groups, total) = Default::default();
        SegmentOrder { only, sort, sorting, next, is_sorted, order, groups, total }
    }

    /// Continues sorting and grouping the segments until complete or the time slice is used up.
    pub(super) fn step(&mut self, state: &DeviceState, lives: &SegmentLifetimes, slice: &mut TimeSlice) -> SliceResult {
        let kind_of = |kind: u32| lives.kinds().get(kind as usize).copied().unwrap_or(UNKNOWN);
        while !self.is_sorted
            && let Some(part) = slice.next_range(&mut self.next, state.segments.len(), 1)?
        {
            for (segment, index) in state.segments.get(part.clone()).unwrap_or_default().iter().zip(part.start as u32..)
            {
                let holds = |address: u64| (segment.address..segment.end).contains(&address);
                if self.only.address.is_none_or(holds) && self.only.matches_kind(&kind_of(segment.kind)) {
                    self.order.push(index);
                }
            }
        }
        if !self.is_sorted {
            if !self.order.is_empty() {
                self.sorting = MultiKeySort::new(std::mem::take(&mut self.order));
            }
            let mut key = |part: usize, index: u32| {
                let Some(segment) = state.segments.get(index as usize) else { return 0 };
                let kind = kind_of(segment.kind);
                let pool = kind.pool.unwrap_or((u64::MAX, u64::MAX));
                match part {
                    0 => match self.sort {
                        SegmentSort::Address => 0,
                        SegmentSort::Size => !segment.sums.reserved,
                        SegmentSort::Free => !segment.sums.free_share(),
                    },
                    1 => u64::from(kind.small) << 1 | u64::from(kind.expandable),
                    2 => kind.stream.unwrap_or(u64::MAX),
                    3 => pool.1,
                    _ => pool.0,
                }
            };
            self.sorting.step((KEYS, 1), &mut key, slice)?;
            self.order = std::mem::take(&mut self.sorting).ids().to_vec();
            (self.is_sorted, self.next) = (true, 0);
        }
        while let Some(part) = slice.next_range(&mut self.next, self.order.len(), 1)? {
            for (&index, rank) in self.order.get(part.clone()).unwrap_or_default().iter().zip(part.start as u32..) {
                let Some(segment) = state.segments.get(index as usize) else { continue };
                let SegmentKind { pool, stream, small, expandable } = kind_of(segment.kind);
                let is_same_group = |group: &SegmentsGroup| {
                    (group.pool, group.stream, group.small, group.expandable) == (pool, stream, small, expandable)
                };
                if !self.groups.last().is_some_and(|(_, group)| is_same_group(group)) {
                    let group =
                        SegmentsGroup { row: 0, pool, stream, small, expandable, sums: SegmentsSums::default() };
                    self.groups.push((rank, group));
                }
                self.total.add(&segment.sums);
                if let Some((_, group)) = self.groups.last_mut() {
                    group.sums.add(&segment.sums);
                }
            }
        }
        Ok(())
    }
}

const UNKNOWN: SegmentKind = SegmentKind { pool: None, stream: None, small: false, expandable: false };

/// Layout of segments in rows. They are wrapped like words in lines of text.
#[derive(Clone, Debug, Default)]
pub(super) struct SegmentLayout {
    /// Scale in bytes per pixel. Greater than 0.
    pub(super) bytes_per_px: f64,
    /// Width of a row in device pixels. 0 means a list: each segment takes one row and has no width.
    pub(super) width_px: u32,
    /// Index of the next segment in the order. `group` is the index of the next group. `row` and `x` are the next free
    /// position.
    pub(super) next: usize,
    group: usize,
    pub(super) row: u64,
    x: u64,
    /// Row and pixel at which each segment starts, in display order. `None` if only the number of rows is needed.
    pub(super) places: Option<Vec<[u32; 2]>>,
    /// Row of each group's heading. Empty if `places` is `None`.
    pub(super) headings: Vec<u32>,
}

impl SegmentLayout {
    pub(super) fn new(bytes_per_px: f64, width_px: u32) -> SegmentLayout {
        SegmentLayout { bytes_per_px, width_px, ..SegmentLayout::default() }
    }

    /// Returns the total width in pixels of a segment of `bytes`, added up over all rows that it takes.
    pub(super) fn pixels(&self, bytes: u64) -> u64 {
        if self.width_px == 0 { 0 } else { ((bytes as f64 / self.bytes_per_px).round() as u64).max(1) }
    }

    /// Continues laying out the segments. Once complete, `row` is the number of rows.
    pub(super) fn step(&mut self, state: &DeviceState, arranged: &SegmentOrder, slice: &mut TimeSlice) -> SliceResult {
        let width = u64::from(self.width_px);
        while let Some(part) = slice.next_range(&mut self.next, arranged.order.len(), 1)? {
            for (&index, rank) in arranged.order.get(part.clone()).unwrap_or_default().iter().zip(part) {
                let Some(segment) = state.segments.get(index as usize) else { continue };
                if arranged.groups.get(self.group).is_some_and(|&(first, _)| first as usize == rank) {
                    self.row += u64::from(self.x > 0);
                    if self.places.is_some() {
                        self.headings.push(u32::try_from(self.row).unwrap_or(u32::MAX));
                    }
                    (self.row, self.x) = (self.row + 1, 0);
                    self.group += 1;
                }
                let pixels = self.pixels(segment.sums.reserved);
                if self.x > 0 && self.x.saturating_add(pixels) > width {
                    (self.row, self.x) = (self.row + 1, 0);
                }
                if let Some(places) = &mut self.places {
                    places.push([u32::try_from(self.row).unwrap_or(u32::MAX), self.x as u32]);
                }
                let end = self.x + pixels;
                if end > width {
                    self.row = self.row.saturating_add((end - 1) / width.max(1));
                }
                let gap = (pixels / 8).clamp(GAPS[0], GAPS[1]);
                self.x = if width == 0 { 1 } else { (end - 1) % width + 1 + gap };
            }
        }
        self.row += u64::from(std::mem::take(&mut self.x) > 0);
        Ok(())
    }
}
