//! Decides which allocations and mapped ranges belong to a part of a device's memory.
//!
//! A part may be the segment at an address, over the whole trace. It then consists of all ranges that ever contained
//! the address. If one of these ranges is expandable, adjacent expandable ranges belong to the part as well.

use crate::device::DeviceData;
use base::sorted::{sorted_numbers, two_part_key};
use history::replay::{AllocationId, SegmentLifetimes};
use protocol::MemoryFilter;

/// A part of a device's memory. If the part is a segment, also the address range of the segment.
pub(crate) struct Part {
    pub(crate) only: MemoryFilter,
    /// Start and end (exclusive) address of the segment. `None` if no segment is requested, or if no memory was ever
    /// mapped at the requested address.
    segment: Option<[u64; 2]>,
}

impl Part {
    /// Creates a part whose segment is not located yet.
    pub(crate) fn new(only: MemoryFilter) -> Part {
        Part { only, segment: None }
    }

    /// Returns whether the part contains all memory of the device.
    pub(crate) fn is_all(&self) -> bool {
        self.only == MemoryFilter::default()
    }

    /// Finds the address range of the segment, if the part is a segment.
    pub(crate) fn locate_segment(&mut self, lives: &SegmentLifetimes) {
        let Some(address) = self.only.address else { return };
        let ids = || (0..lives.ranges.len() as u32).map(AllocationId);
        let ends = |id| {
            let from = lives.ranges.address(id);
            [from, from.saturating_add(lives.ranges.size(id))]
        };
        let holds = |id: &AllocationId| (ends(*id)[0]..ends(*id)[1]).contains(&address);
        let mut expandable_kind = None;
        for id in ids().filter(holds) {
            let [from, to] = ends(id);
            let [lower, upper] = self.segment.unwrap_or([from, to]);
            self.segment = Some([from.min(lower), to.max(upper)]);
            expandable_kind = expandable_kind.or(lives.kind(id).filter(|kind| kind.expandable));
        }
        let (Some([from, to]), Some(kind)) = (self.segment, expandable_kind) else { return };
        // In order of address, a range that touches the merged ones before it extends them.
        let same_kind = ids().filter(|&id| lives.kind(id) == Some(kind));
        let by_address = sorted_numbers(same_kind.map(|id| (two_part_key(ends(id)[0], ends(id)[1]), id.0)).collect());
        let mut open = [from, from];
        for [start, end] in by_address.into_iter().map(|id| ends(AllocationId(id))) {
            if start > open[1] {
                if open[1] >= to {
                    break;
                }
                open = [start, start];
            }
            open[1] = open[1].max(end);
            if open[0] <= from && to <= open[1] {
                self.segment = Some(open);
            }
        }
    }

    fn matches(&self, pool: Option<(u64, u64)>, stream: Option<u64>, address: Option<u64>) -> bool {
        let MemoryFilter { pool: only_pool, stream: only_stream, address: only_segment } = self.only;
        let is_within = || self.segment.zip(address).is_some_and(|([from, to], address)| (from..to).contains(&address));
        only_pool.is_none_or(|wanted| pool.unwrap_or_default() == wanted)
            && (only_stream.is_none() || stream == only_stream)
            && (only_segment.is_none() || is_within())
    }

    /// Returns whether an allocation belongs to the part.
    pub(crate) fn contains(&self, data: DeviceData<'_>, id: AllocationId) -> bool {
        if self.is_all() {
            return true;
        }
        let DeviceData { snapshot, history, groups, .. } = data;
        let has_address = !history.allocations.is_unexplained(id);
        let address = has_address.then(|| history.allocations.address(id));
        let pool = address.and_then(|_| groups.pool(snapshot, history, id));
        let stream = address.and_then(|_| groups.stream(snapshot, history, id));
        self.matches(pool, stream, address)
    }

    /// Returns whether a mapped range belongs to the part.
    pub(crate) fn contains_range(&self, lives: &SegmentLifetimes, id: AllocationId) -> bool {
        let Some(kind) = lives.kind(id) else { return false };
        self.matches(kind.pool, kind.stream, Some(lives.ranges.address(id)))
    }
}
