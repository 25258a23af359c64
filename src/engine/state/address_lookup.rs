//! Finds the allocation, segment and free block at an address and moment.

use super::device_state::DeviceState;
use crate::open::OpenFile;
use analysis::site;
use base::slice::{SliceResult, TimeSlice};
use base::units::Moment;
use history::replay::{AllocationId, SegmentLifetimes};
use picture::timeline::lowest_byte_of;
use protocol::{HitAllocation, HitMemory, HitSegment, PlotSettings};

/// Lookup of the allocation and memory at an address. The device state that was requested last is cached.
#[derive(Default)]
pub(crate) struct AddressLookup {
    state: Option<DeviceState>,
}

base::heap_bytes!(AddressLookup: state);

/// The allocation and the memory at an address. Each is `None` if there is none.
type Hit = (Option<HitAllocation>, Option<Box<HitMemory>>);

impl AddressLookup {
    /// Continues the lookup. Returns the allocation and the memory at an address once found. `lowest_byte` of the
    /// allocation is its height in the plot stacked in order of allocation, because selecting the allocation moves the
    /// cursor there.
    pub(crate) fn look_up(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        moment: u32,
        address: u64,
        slice: &mut TimeSlice,
    ) -> SliceResult<Hit> {
        file.compute_segments(device, slice)?;
        let Some((side, lives)) = file.side(device).zip(file.segments(device)) else { return Ok((None, None)) };
        if !self.state.as_ref().is_some_and(|state| state.is_of(side.history, moment)) {
            self.state = None;
        }
        let state = self.state.get_or_insert_with(|| DeviceState::new(side.history, lives, moment));
        state.step(side, lives, slice)?;
        let after = state.blocks.partition_point(|block| block.from <= address);
        let block = state.blocks.get(..after).and_then(<[_]>::last).filter(|block| address < block.to);
        let id = block.map(|block| AllocationId(block.id));
        let segment = segment_at(state, lives, address);
        let stack = segment.as_ref().map(|it| lives.stack(&file.snapshot, side.history, AllocationId(it.range)));
        let is_free = state.segment_at(address).filter(|_| id.is_none());
        let free = is_free.and_then(|segment| {
            let next = state.blocks_of(segment).partition_point(|block| block.from <= address);
            state.free_of(segment, next).next()
        });
        let mut memory = HitMemory { segment, free };
        let moment = Moment(state.moment);
        let lowest_byte =
            id.and_then(|id| file.with_source(device, PlotSettings::default(), |it| lowest_byte_of(it, id, moment)));
        let hit = id.and_then(|id| file.hit_allocation(device, id, lowest_byte.flatten().unwrap_or(0)));
        let frame = stack.and_then(|stack| file.sites.call_site(&file.snapshot, stack));
        if let Some(segment) = &mut memory.segment {
            segment.call_site = frame.map(|frame| site::short(&file.snapshot, file.snapshot.frames.frame(frame)));
        }
        Ok((hit, Some(Box::new(memory))))
    }
}

/// Returns the segment that contains an address, without its call site.
fn segment_at(state: &DeviceState, lives: &SegmentLifetimes, address: u64) -> Option<HitSegment> {
    let segment = state.segment_at(address)?;
    let [first, end] = segment.ranges.map(|index| index as usize);
    let ranges = state.ranges.get(first..end)?;
    let after = ranges.partition_point(|&range| lives.ranges.address(AllocationId(range)) <= address);
    let range = AllocationId(ranges.get(after.checked_sub(1)?).copied()?);
    let kind = lives.kind(range)?;
    Some(HitSegment {
        range: range.0,
        address: segment.address,
        reserved: segment.sums.reserved,
        range_bytes: lives.ranges.size(range),
        mapped_at: lives.ranges.allocated_at(range).0,
        unmapped_at: lives.ranges.freed_at(range).map(|moment| moment.0),
        pool: kind.pool,
        stream: kind.stream,
        small: kind.small,
        expandable: kind.expandable,
        call_site: None,
    })
}
