//! Plots of a device's memory over time: stacked allocations, the address plot and the reserved plot.

use base::units::Moment;
use history::replay::SegmentKind;
use picture::timeline::View;
use serde::{Deserialize, Serialize};

/// Type of plot, which determines the vertical axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Plot {
    /// Live allocations stacked on top of each other. The vertical axis is in requested bytes.
    #[default]
    Stack,
    /// Allocations at their addresses, with shortened gaps between the mapped ranges ([`AddressMap`]).
    Addresses(MemoryFilter),
    /// Stacked ranges of reserved memory. The vertical axis is in reserved bytes. The ranges and their ids come from
    /// [`SegmentLifetimes`](history::replay::SegmentLifetimes).
    Reserved(MemoryFilter),
}

impl Plot {
    /// Returns the part of memory that the plot shows.
    pub fn filter(self) -> MemoryFilter {
        match self {
            Plot::Stack => MemoryFilter::default(),
            Plot::Addresses(only) | Plot::Reserved(only) => only,
        }
    }
}

/// A part of a device's memory. It contains the memory that meets all conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct MemoryFilter {
    /// Pool id. `(0, 0)` is the default pool, which includes memory without a known pool.
    pub pool: Option<(u64, u64)>,
    pub stream: Option<u64>,
    pub address: Option<u64>,
}

impl MemoryFilter {
    /// Returns whether segments of this kind match the pool and stream.
    pub fn matches_kind(&self, kind: &SegmentKind) -> bool {
        self.pool.is_none_or(|pool| kind.pool.unwrap_or_default() == pool)
            && self.stream.is_none_or(|stream| kind.stream == Some(stream))
    }
}

/// Address axis of a device: all ranges that were ever mapped, in address order, with shortened gaps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AddressMap {
    /// Height of the axis in bytes, including gaps.
    pub height: u64,
    /// Disjoint, non-adjacent ranges in address order.
    pub ranges: Vec<MappedRange>,
    /// All pools of the device's segments in ascending order, including pools outside the requested part of memory.
    /// Segments without a known pool count as the default pool `(0, 0)`.
    pub pools: Vec<(u64, u64)>,
    /// All streams of the device's segments that are known, in ascending order.
    pub streams: Vec<u64>,
}

base::heap_bytes!(AddressMap: ranges);

/// A range of addresses between two gaps of the address axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedRange {
    pub address: u64,
    pub bytes: u64,
    /// Position at which the range starts on the axis.
    pub axis_start: u64,
    /// Number of segments that were mapped in the range during the whole trace.
    pub segments: u32,
}

impl AddressMap {
    /// Returns the address at a position on the axis. `None` for positions in a gap or above the axis.
    pub fn address_at(&self, height: u64) -> Option<u64> {
        let after = self.ranges.partition_point(|range| range.axis_start <= height);
        let range = self.ranges.get(after.checked_sub(1)?)?;
        (height - range.axis_start < range.bytes).then(|| range.address.saturating_add(height - range.axis_start))
    }

    /// Returns the position of an address on the axis. `None` if the address was never mapped.
    pub fn height_of(&self, address: u64) -> Option<u64> {
        let after = self.ranges.partition_point(|range| range.address <= address);
        let range = self.ranges.get(after.checked_sub(1)?)?;
        (address - range.address < range.bytes).then(|| range.axis_start.saturating_add(address - range.address))
    }
}

/// Segment and free space at a position of the plot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HitMemory {
    pub segment: Option<HitSegment>,
    /// Address and size of the free space. The size is an upper bound, because the block below may be larger than
    /// known.
    pub free: Option<(u64, u64)>,
}

/// Facts about a segment, as it is after one event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HitSegment {
    /// Id of the range that was hit, in [`SegmentLifetimes`](history::replay::SegmentLifetimes).
    pub range: u32,
    pub address: u64,
    /// Reserved bytes of the whole segment.
    pub reserved: u64,
    /// Size of the range in bytes.
    pub range_bytes: u64,
    /// Moment at which the range was mapped. 0 if it was mapped before the trace.
    pub mapped_at: u32,
    /// Moment at which the range was unmapped. `None` if it is still mapped at the end of the trace.
    pub unmapped_at: Option<u32>,
    /// Pool id, if known.
    pub pool: Option<(u64, u64)>,
    /// Stream, if known.
    pub stream: Option<u64>,
    /// True if the segment belongs to the small pool, which serves requests up to 1 MiB.
    pub small: bool,
    pub expandable: bool,
    /// Call site whose request caused the driver call. `None` if no stack is recorded.
    pub call_site: Option<String>,
}

impl HitSegment {
    /// Returns the range id, the index of the event that mapped the range, and the index of the event that unmapped it.
    pub fn range_events(&self) -> (u32, Option<u32>, Option<u32>) {
        let event = |moment: u32| Moment(moment).event().map(|event| event.0);
        (self.range, event(self.mapped_at), self.unmapped_at.and_then(event))
    }
}

/// Maximum of each memory total per pixel column of a window. `free` requires recorded reserved bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    pub view: Option<View>,
    /// Edges of the columns in pixels of the window: column `c` covers `edge_px[c]..edge_px[c + 1]`.
    pub edge_px: Vec<i32>,
    pub reserved: Vec<u64>,
    /// Rounded bytes of active blocks. A lower bound if the file does not record block sizes.
    pub rounded: Vec<u64>,
    /// Requested bytes of active blocks.
    pub requested: Vec<u64>,
    /// Requested bytes of allocations that the program has not freed.
    pub allocated: Vec<u64>,
    /// Requested bytes that are awaiting free.
    pub awaiting_free: Vec<u64>,
    /// Maximum of free (cached) bytes, which are reserved but outside active blocks. An upper bound.
    pub free: Vec<u64>,
    /// Reserved bytes at the moment at which `free` reaches its maximum.
    pub reserved_at_max_free: Vec<u64>,
    /// Stranded bytes: free bytes that a later driver request found free. Empty if they were not requested.
    pub stranded: Vec<u64>,
    /// Device memory outside the allocator, from the recorder's samples. This curve and the following ones are empty if
    /// there are no samples, or if the curves are of a part of memory.
    pub outside: Vec<u64>,
    /// Resident memory of the process.
    pub resident: Vec<u64>,
    /// Pinned memory of the process.
    pub pinned: Vec<u64>,
    /// Part of the reserved bytes that is paused, and so not on the device.
    pub paused: Vec<u64>,
}
