//! Memory at an address and a moment: the block, the segment, and the free space around the address.

use super::open::OpenFile;
use super::plots::Neighbours;
use analysis::site;
use base::slice::TimeSlice;
use base::sorted::sort;
use base::units::Moment;
use history::replay::{AllocationId, SegmentLifetimes};
use protocol::{HitAllocation, HitMemory, HitSegment, MemoryFilter};

/// A segment, as it is after one event. Adjacent mapped ranges of an expandable segment count as one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentAt {
    pub(super) range: AllocationId,
    pub(super) address: u64,
    pub(super) end: u64,
}

/// Returns the segment that holds an address at a moment. `segments` must be complete.
pub(super) fn segment_at(segments: &SegmentLifetimes, moment: Moment, address: u64) -> Option<SegmentAt> {
    let ranges = &segments.ranges;
    let live = segments.live.live_at(ranges, moment);
    let mut by_address: Vec<(u128, u32)> = live.map(|id| (u128::from(ranges.address(id)), id.0)).collect();
    sort(&mut by_address);
    let after = by_address.partition_point(|&(start, _)| start <= u128::from(address));
    let id_at = |index: usize| by_address.get(index).map(|&(_, id)| AllocationId(id));
    let end_of = |id: AllocationId| ranges.address(id).saturating_add(ranges.size(id));
    let index = after.checked_sub(1)?;
    let range = id_at(index).filter(|&id| address < end_of(id))?;
    let [mut first, mut last] = [range; 2];
    let mut lower = index;
    while let Some(below) = lower.checked_sub(1).and_then(id_at).filter(|&below| segments.is_same_segment(below, first))
    {
        (first, lower) = (below, lower - 1);
    }
    let mut upper = after;
    while let Some(above) = id_at(upper).filter(|&above| segments.is_same_segment(last, above)) {
        (last, upper) = (above, upper + 1);
    }
    Some(SegmentAt { range, address: ranges.address(first), end: end_of(last) })
}

/// Returns the details of a segment. `None` if there is no such device.
pub(super) fn hit_segment(file: &mut OpenFile, device: i64, at: SegmentAt) -> Option<HitSegment> {
    let (history, segments) = (file.history(device)?, file.segments(device)?);
    let (ranges, kind) = (&segments.ranges, segments.kind(at.range)?);
    let hit = HitSegment {
        range: at.range.0,
        address: at.address,
        reserved: at.end - at.address,
        range_bytes: ranges.size(at.range),
        mapped_at: ranges.allocated_at(at.range).0,
        unmapped_at: ranges.freed_at(at.range).map(|moment| moment.0),
        pool: kind.pool,
        stream: kind.stream,
        small: kind.small,
        expandable: kind.expandable,
        call_site: None,
    };
    let stack = segments.stack(&file.snapshot, history, at.range);
    let frame = file.sites.call_site(&file.snapshot, stack);
    let site = frame.map(|frame| site::short(&file.snapshot, file.snapshot.frames.frame(frame)));
    Some(HitSegment { call_site: site, ..hit })
}

/// Returns the start and size of the free space around an address, limited to the segment. `None` if a block covers the
/// address.
fn free_space(around: &Neighbours, segment: SegmentAt, address: u64) -> Option<(u64, u64)> {
    if around.at.is_some() {
        return None;
    }
    let from = around.below.map_or(segment.address, |below| below.end.max(segment.address));
    let to = around.above.map_or(segment.end, |above| above.address.min(segment.end));
    (from <= address && address < to).then_some((from, to - from))
}

/// Returns the allocation and the memory at an address and a moment, limited to a part of memory. `None` if there is no
/// such device. `height_of` maps the first address of a block to its height in the plot, in bytes.
pub(super) fn memory_at(
    file: &mut OpenFile,
    (device, only): (i64, MemoryFilter),
    moment: Moment,
    address: u64,
    height_of: impl Fn(&OpenFile, u64) -> u64,
) -> Option<(Option<HitAllocation>, HitMemory)> {
    file.compute_segments(device, &mut TimeSlice::new(&mut || true)).ok()?;
    let (side, segments) = (file.side(device)?, file.segments(device)?);
    let moment = Moment(moment.0.min(side.history.event_count()));
    let around = Neighbours::find(side, moment, address, |_| true);
    let segment = segment_at(segments, moment, address);
    let free = segment.and_then(|segment| free_space(&around, segment, address));
    let wanted = around.at.filter(|block| file.layout(device, only).is_none_or(|layout| layout.contains(block.id)));
    let hit = wanted.and_then(|block| {
        let lowest_byte = height_of(file, block.address);
        file.hit_allocation(device, block.id, lowest_byte)
    });
    let segment = segment.and_then(|segment| hit_segment(file, device, segment));
    Some((hit, HitMemory { segment, free }))
}
