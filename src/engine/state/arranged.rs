//! The segments of a state in the order they are shown in: by what they serve, then as asked; and the rows they take.
//!
//! Groups: pools ascending, so that the default one comes first and those of which it is not known last; in each the streams ascending;
//! in each large blocks before small ones, because that is where memory is; segments of fixed size before those that can grow.

use super::device_state::DeviceState;
use crate::protocol::{Only, SegmentSort, StateGroup, StateSums};
use crate::radix::Sorting;
use base::slice::{Slice, Sliced};
use history::replay::{SegmentKind, SegmentLives};

/// Device pixels between two segments of a row, at least and at most: an eighth of the first. Where a thousand share a few rows, their
/// gaps must not take more than they do.
const GAPS: [u64; 2] = [1, 3];
/// Keys that segments are sorted by: pool in two parts, stream, the rest of the kind, and what was asked for.
const KEYS: usize = 5;

/// Segments in an order, in groups.
pub(super) struct Arranged {
    pub(super) only: Only,
    pub(super) sort: SegmentSort,
    sorting: Sorting,
    /// How many of all segments were looked at, and whether those that are wanted are sorted.
    next: usize,
    is_sorted: bool,
    /// Places of segments in [`DeviceState::segments`].
    pub(super) order: Vec<u32>,
    /// The groups, their rows not yet told; where each begins in the order.
    pub(super) groups: Vec<(u32, StateGroup)>,
    pub(super) whole: StateSums,
}

impl Arranged {
    pub(super) fn new(only: Only, sort: SegmentSort) -> Arranged {
        let (sorting, next, is_sorted, order, groups, whole) = Default::default();
        Arranged { only, sort, sorting, next, is_sorted, order, groups, whole }
    }

    /// Works until it is done.
    pub(super) fn step(&mut self, state: &DeviceState, lives: &SegmentLives, slice: &mut Slice) -> Sliced {
        let kind_of = |kind: u32| lives.kinds().get(kind as usize).copied().unwrap_or(UNKNOWN);
        while !self.is_sorted
            && let Some(part) = slice.part(&mut self.next, state.segments.len(), 1)?
        {
            for (segment, place) in state.segments.get(part.clone()).unwrap_or_default().iter().zip(part.start as u32..)
            {
                let holds = |address: u64| (segment.address..segment.end).contains(&address);
                if self.only.address.is_none_or(holds) && self.only.wants(&kind_of(segment.kind)) {
                    self.order.push(place);
                }
            }
        }
        if !self.is_sorted {
            if !self.order.is_empty() {
                self.sorting = Sorting::of(std::mem::take(&mut self.order));
            }
            let mut key = |part: usize, place: u32| {
                let Some(segment) = state.segments.get(place as usize) else { return 0 };
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
        while let Some(part) = slice.part(&mut self.next, self.order.len(), 1)? {
            for (&place, rank) in self.order.get(part.clone()).unwrap_or_default().iter().zip(part.start as u32..) {
                let Some(segment) = state.segments.get(place as usize) else { continue };
                let SegmentKind { pool, stream, small, expandable } = kind_of(segment.kind);
                let is_of = |group: &StateGroup| {
                    (group.pool, group.stream, group.small, group.expandable) == (pool, stream, small, expandable)
                };
                if !self.groups.last().is_some_and(|(_, group)| is_of(group)) {
                    let group = StateGroup { row: 0, pool, stream, small, expandable, sums: StateSums::default() };
                    self.groups.push((rank, group));
                }
                self.whole.add(&segment.sums);
                if let Some((_, group)) = self.groups.last_mut() {
                    group.sums.add(&segment.sums);
                }
            }
        }
        Ok(())
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.order.capacity() * size_of::<u32>()
            + self.sorting.heap_bytes()
            + self.groups.capacity() * size_of::<(u32, StateGroup)>()
    }
}

const UNKNOWN: SegmentKind = SegmentKind { pool: None, stream: None, small: false, expandable: false };

/// Where segments go, one after another.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    /// Bytes that a pixel covers: above 0.
    pub(super) bytes_per_px: f64,
    /// Width of a row; 0: each segment is a row, and nothing has a width.
    pub(super) width_px: u32,
    /// The next place in the order, the group it may begin, the row and the pixel that are free.
    pub(super) next: usize,
    group: usize,
    pub(super) row: u64,
    x: u64,
    /// By rank, where kept: first row and first pixel.
    pub(super) places: Option<Vec<[u32; 2]>>,
    /// The row of each group's heading, where kept.
    pub(super) headings: Vec<u32>,
}

impl Flow {
    /// Nothing has a place yet.
    pub(super) fn new(bytes_per_px: f64, width_px: u32) -> Flow {
        Flow { bytes_per_px, width_px, ..Flow::default() }
    }

    /// How wide a segment of so many bytes is, all rows together.
    pub(super) fn pixels(&self, bytes: u64) -> u64 {
        if self.width_px == 0 { 0 } else { ((bytes as f64 / self.bytes_per_px).round() as u64).max(1) }
    }

    /// Places segments. `row` then is how many rows there are.
    pub(super) fn step(&mut self, state: &DeviceState, arranged: &Arranged, slice: &mut Slice) -> Sliced {
        let width = u64::from(self.width_px);
        while let Some(part) = slice.part(&mut self.next, arranged.order.len(), 1)? {
            for (&place, at) in arranged.order.get(part.clone()).unwrap_or_default().iter().zip(part) {
                let Some(segment) = state.segments.get(place as usize) else { continue };
                if arranged.groups.get(self.group).is_some_and(|&(rank, _)| rank as usize == at) {
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
