//! Layout of the address axis. It contains all address ranges that were ever mapped, with shortened gaps between them,
//! and the range of each allocation.

use crate::curves::Part;
use crate::device::DeviceData;
use base::column::Column;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_by_key, two_part_key};
use history::replay::{AllocationId, DeviceHistory, SegmentLifetimes};
use protocol::{AddressMap, MappedRange, MemoryFilter};
use std::collections::BTreeMap;

/// A gap on the axis has the size of all mapped bytes divided by this number.
const GAP_DIVISOR: u64 = 128;
/// All gaps together are at most as large as all mapped bytes divided by this number.
const ALL_GAPS_DIVISOR: u64 = 8;
/// Blocks outside all mapped memory are merged into one range if at most this many bytes lie between them.
const MERGE_DISTANCE: u64 = 1 << 20;
/// Sentinel: the allocation is not in the plot.
const NO_RANGE: u32 = u32::MAX;

/// Disjoint, non-adjacent address ranges, as start → end (exclusive).
type Ranges = BTreeMap<u64, u64>;

/// Address axis of a part of memory, and the position of each allocation on this axis.
pub(crate) struct AddressLayout {
    part: Part,
    /// Address ranges of expandable segments, merged over the whole trace.
    expandable: Ranges,
    mapped: Ranges,
    /// Ranges of blocks that lie outside all mapped memory.
    outside_mapped: Ranges,
    /// Sorted copy of `mapped` for lookups. Cleared once the map is complete.
    mapped_sorted: Vec<[u64; 2]>,
    /// The address axis. Complete when `stage` is `Done`.
    pub(crate) map: AddressMap,
    /// For each allocation, the index of the range in `map` that contains it.
    range_of: Column<u32>,
    stage: Stage,
    next: usize,
}

base::heap_bytes!(AddressLayout: range_of, map);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Expandable,
    Mapped,
    Places,
    PlacesSecondPass,
    Segments,
    Done,
}

impl AddressLayout {
    pub(super) fn new(only: MemoryFilter) -> AddressLayout {
        let (expandable, mapped, outside, mapped_sorted, map) = Default::default();
        let (part, range_of) = (Part::new(only), Column::new());
        AddressLayout {
            part,
            expandable,
            mapped,
            outside_mapped: outside,
            mapped_sorted,
            map,
            range_of,
            stage: Stage::Expandable,
            next: 0,
        }
    }

    /// Continues building the layout until it is complete or the time slice is used up.
    pub(super) fn step(
        &mut self,
        data: DeviceData<'_>,
        segments: &SegmentLifetimes,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        while self.stage != Stage::Done {
            let handles_blocks = matches!(self.stage, Stage::Places | Stage::PlacesSecondPass);
            let count = if handles_blocks { data.history.allocations.len() } else { segments.ranges.len() };
            while let Some(ids) = slice.next_range(&mut self.next, count, 1)? {
                for id in ids.map(|id| AllocationId(id as u32)) {
                    if handles_blocks {
                        self.place_block(data, id);
                    } else {
                        self.add_range(segments, id);
                    }
                }
            }
            (self.stage, self.next) = (self.next_stage(segments), 0);
            slice.check()?;
        }
        Ok(())
    }

    fn add_range(&mut self, segments: &SegmentLifetimes, id: AllocationId) {
        let (start, size) = (segments.ranges.address(id), segments.ranges.size(id));
        let end = start.saturating_add(size);
        let is_expandable = segments.kind(id).is_some_and(|kind| kind.expandable);
        match self.stage {
            Stage::Expandable if is_expandable => insert(&mut self.expandable, [start, end], 0),
            Stage::Mapped if self.part.contains_range(segments, id) => insert(&mut self.mapped, [start, end], 0),
            Stage::Segments if segments.starts_segment(id) && self.part.contains_range(segments, id) => {
                self.count_segment(start);
            }
            _ => {}
        }
    }

    fn place_block(&mut self, data: DeviceData<'_>, id: AllocationId) {
        let range = if self.includes(data, id) {
            let start = data.history.allocations.address(id);
            let block = [start, start.saturating_add(data.block_bytes(id))];
            self.containing_range(block).unwrap_or_else(|| {
                insert(&mut self.outside_mapped, block, MERGE_DISTANCE);
                NO_RANGE
            })
        } else {
            NO_RANGE
        };
        match self.stage {
            Stage::PlacesSecondPass => self.range_of.set(id.0 as usize, range),
            _ => self.range_of.push(range),
        }
    }

    /// Returns the index of the range that contains the whole block, if there is one.
    fn containing_range(&self, [start, end]: [u64; 2]) -> Option<u32> {
        let index = self.mapped_sorted.partition_point(|range| range[0] <= start).checked_sub(1)?;
        (end <= self.mapped_sorted.get(index)?[1]).then_some(index as u32)
    }

    fn next_stage(&mut self, segments: &SegmentLifetimes) -> Stage {
        match self.stage {
            Stage::Expandable => {
                self.part.locate_segment(segments);
                Stage::Mapped
            }
            Stage::Mapped => {
                self.flatten();
                Stage::Places
            }
            Stage::Places if !self.outside_mapped.is_empty() => {
                for (start, end) in std::mem::take(&mut self.outside_mapped) {
                    insert(&mut self.mapped, [start, end], 0);
                }
                self.flatten();
                Stage::PlacesSecondPass
            }
            Stage::Places | Stage::PlacesSecondPass => {
                self.build_map(segments);
                Stage::Segments
            }
            Stage::Segments => {
                std::mem::take(&mut self.expandable).into_keys().for_each(|start| self.count_segment(start));
                Stage::Done
            }
            Stage::Done => Stage::Done,
        }
    }

    fn flatten(&mut self) {
        self.mapped_sorted = self.mapped.iter().map(|(&start, &end)| [start, end]).collect();
    }

    fn build_map(&mut self, segments: &SegmentLifetimes) {
        let all = self.mapped_sorted.iter().fold(0u64, |all, [start, end]| all.saturating_add(end - start));
        let gaps = (self.mapped_sorted.len() as u64).saturating_sub(1).max(1);
        let gap = (all / GAP_DIVISOR).min(all / ALL_GAPS_DIVISOR / gaps).max(1);
        let mut from = 0u64;
        for &[address, end] in &self.mapped_sorted {
            let bytes = end - address;
            self.map.ranges.push(MappedRange { address, bytes, axis_start: from, segments: 0 });
            self.map.height = from.saturating_add(bytes);
            from = self.map.height.saturating_add(gap);
        }
        let pools = segments.kinds().iter().map(|kind| kind.pool.unwrap_or_default()).collect();
        self.map.pools = sorted_by_key(pools, |&(first, second)| two_part_key(first, second));
        self.map.pools.dedup();
        self.map.streams = segments.kinds().iter().filter_map(|kind| kind.stream).collect();
        self.map.streams.sort_unstable();
        self.map.streams.dedup();
        (self.mapped_sorted, self.mapped) = Default::default();
    }

    fn count_segment(&mut self, address: u64) {
        let after = self.map.ranges.partition_point(|range| range.address <= address);
        let range = after.checked_sub(1).and_then(|index| self.map.ranges.get_mut(index));
        if let Some(range) = range.filter(|range| address - range.address < range.bytes) {
            range.segments += 1;
        }
    }

    /// Returns whether an allocation is shown in this part of memory. False for empty allocations and unexplained
    /// bytes.
    fn includes(&self, data: DeviceData<'_>, id: AllocationId) -> bool {
        data.history.allocations.size(id) > 0
            && !data.history.allocations.is_unexplained(id)
            && self.part.contains(data, id)
    }

    /// Returns the start and end (exclusive) of an allocation on the axis. `bytes` is its rounded size. `None` if the
    /// allocation is not in this part of memory.
    pub(crate) fn position(&self, history: &DeviceHistory, id: AllocationId, bytes: u64) -> Option<[u64; 2]> {
        let range = self.map.ranges.get(self.range_of.get(id.0 as usize)? as usize)?;
        let lowest = range.axis_start.saturating_add(history.allocations.address(id).saturating_sub(range.address));
        Some([lowest, lowest.saturating_add(bytes)])
    }

    pub(crate) fn contains(&self, id: AllocationId) -> bool {
        self.range_of.get(id.0 as usize).is_some_and(|range| range != NO_RANGE)
    }

    /// Returns the start and end (exclusive) of a mapped range on the axis. `None` if the range is not in this part of
    /// memory.
    pub(super) fn range_position(&self, segments: &SegmentLifetimes, id: AllocationId) -> Option<[u64; 2]> {
        let lowest =
            self.map.height_of(segments.ranges.address(id)).filter(|_| self.part.contains_range(segments, id))?;
        Some([lowest, lowest.saturating_add(segments.ranges.size(id))])
    }
}

/// Inserts a range and merges it with all ranges that are at most `max_distance` bytes away.
fn insert(ranges: &mut Ranges, [mut start, mut end]: [u64; 2], max_distance: u64) {
    if start >= end {
        return;
    }
    if let Some((&below, &below_end)) = ranges.range(..start).next_back()
        && below_end.saturating_add(max_distance) >= start
    {
        (start, end) = (below, end.max(below_end));
    }
    while let Some((&next, &next_end)) = ranges.range(start..=end.saturating_add(max_distance)).next() {
        ranges.remove(&next);
        end = end.max(next_end);
    }
    ranges.insert(start, end);
}

#[cfg(test)]
#[path = "../../../tests/units/engine/plots/layout.rs"]
mod tests;
