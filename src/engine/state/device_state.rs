//! Reserved memory of a device and the live blocks in it at one moment: segments and blocks by address.
//!
//! ```text
//! mapped ranges           [----][--]      [-----]      sorted by address; adjacent ranges of a segment are joined
//! segments                [--------]      [-----]
//! live blocks              == =  ===       ==     =    sorted by address, cut at the start of the next block
//! free                    .  . ..         .  ...       the rest of the segments
//!                                                 ^ outside all mapped memory
//! ```
//! In an inconsistent file, a block may start inside another one. The lower block is then cut at that address. Of two
//! blocks at the same address, the older one gets no bytes. So every byte of a segment belongs to exactly one block or
//! is free.

use super::segment::{Block, Segment};
use crate::radix::Radix;
use crate::side::Side;
use crate::stack_trees::Population;
use base::heap::HeapBytes;
use base::slice::{OutOfTime, STEPS_PER_CHECK, SliceResult, TimeSlice};
use base::units::Moment;
use history::replay::{AllocationId, Candidates, DeviceHistory, SegmentLifetimes};
use protocol::{Scope, SegmentsSums, Weight};

/// Segments and live blocks of a device after one event.
pub(crate) struct DeviceState {
    pub(crate) device: i64,
    pub(crate) moment: u32,
    pub(crate) segments: Vec<Segment>,
    /// All live blocks that have an address, sorted by address.
    pub(super) blocks: Vec<Block>,
    /// Ids of the mapped ranges, sorted by address.
    pub(super) ranges: Vec<u32>,
    /// Requested bytes of live allocations outside all mapped memory, and unexplained bytes.
    pub(crate) outside_mapped: Weight,
    work: Work,
}

/// Current pass of building the state, and the position to continue from.
enum Work {
    /// Collects the mapped ranges, starting at this candidate.
    Ranges(Candidates, usize, Radix),
    /// Joins mapped ranges to segments, starting at this index.
    Segments(usize),
    /// Collects the live blocks, starting at this candidate.
    Blocks(Population, usize, Radix),
    /// Assigns blocks to segments. Has the sorted blocks, the index of the next block, and the index of the next
    /// segment.
    Place(Vec<u32>, usize, usize),
    Done,
}

impl HeapBytes for DeviceState {
    fn heap_bytes(&self) -> usize {
        let work = match &self.work {
            Work::Ranges(_, _, radix) | Work::Blocks(_, _, radix) => radix.heap_bytes(),
            Work::Place(ids, ..) => ids.heap_bytes(),
            _ => 0,
        };
        self.segments.heap_bytes() + self.blocks.heap_bytes() + self.ranges.heap_bytes() + work
    }
}

impl DeviceState {
    /// Starts building the state at a moment. Moments beyond the end of the trace are clamped.
    pub(crate) fn new(history: &DeviceHistory, lives: &SegmentLifetimes, moment: u32) -> DeviceState {
        let moment = moment.min(history.event_count());
        let candidates = lives.live.candidates(&lives.ranges, Moment(moment));
        let radix = Radix::with_capacity(candidates.len());
        let (segments, blocks, ranges, outside) = Default::default();
        let work = Work::Ranges(candidates, 0, radix);
        DeviceState { device: history.device, moment, segments, blocks, ranges, outside_mapped: outside, work }
    }

    /// Returns whether this is the state of a device at a moment.
    pub(super) fn is_of(&self, history: &DeviceHistory, moment: u32) -> bool {
        (self.device, self.moment) == (history.device, moment.min(history.event_count()))
    }

    /// Returns the segment that contains an address.
    pub(crate) fn segment_at(&self, address: u64) -> Option<&Segment> {
        let after = self.segments.partition_point(|segment| segment.address <= address);
        self.segments.get(after.checked_sub(1)?).filter(|segment| address < segment.end)
    }

    /// Returns the moment at which the last range of a segment was mapped.
    pub(crate) fn mapped_since(&self, segment: &Segment, lives: &SegmentLifetimes) -> u32 {
        let [first, end] = segment.ranges.map(|index| index as usize);
        let ranges = self.ranges.get(first..end).unwrap_or_default();
        ranges.iter().map(|&id| lives.ranges.allocated_at(AllocationId(id)).0).max().unwrap_or(0)
    }

    /// Returns the mapped range of a segment that has the lowest address.
    pub(crate) fn first_range(&self, segment: &Segment) -> Option<AllocationId> {
        self.ranges.get(segment.ranges[0] as usize).map(|&id| AllocationId(id))
    }

    pub(crate) fn blocks_of(&self, segment: &Segment) -> &[Block] {
        let [first, end] = segment.blocks.map(|index| index as usize);
        self.blocks.get(first..end).unwrap_or_default()
    }

    /// Returns the free blocks of a segment, as address and size: the gap before each live block, starting with the
    /// block at index `next`, and the gap after the last block. Gaps may be empty.
    pub(super) fn free_of<'a>(&'a self, segment: &'a Segment, next: usize) -> impl Iterator<Item = (u64, u64)> + 'a {
        let blocks = self.blocks_of(segment);
        let before = next.checked_sub(1).and_then(|before| blocks.get(before));
        let mut until = before.map_or(segment.address, |block| block.to);
        let bounds = blocks.iter().skip(next).map(|block| (block.from, block.to)).chain([(segment.end, segment.end)]);
        let count = (blocks.len() + 1).saturating_sub(next);
        bounds.take(count).map(move |(from, to)| {
            let free = (until, from.saturating_sub(until));
            until = to;
            free
        })
    }

    /// Continues building the state until it is complete or the time slice is used up. All calls must pass the same
    /// file.
    pub(crate) fn step(&mut self, side: Side<'_>, lives: &SegmentLifetimes, slice: &mut TimeSlice) -> SliceResult {
        let moment = Moment(self.moment);
        loop {
            self.work = match std::mem::replace(&mut self.work, Work::Done) {
                Work::Ranges(candidates, next, mut radix) if next < candidates.len() => {
                    let end = candidates.len().min(next + STEPS_PER_CHECK as usize);
                    let ids = (next..end).filter_map(|index| lives.live.candidate(&candidates, index));
                    for id in ids.filter(|&id| lives.ranges.outlives(id, moment)) {
                        radix.push(lives.ranges.address(id), id.0);
                    }
                    Work::Ranges(candidates, end, radix)
                }
                Work::Ranges(candidates, next, mut radix) => {
                    if radix.step(slice).is_err() {
                        self.work = Work::Ranges(candidates, next, radix);
                        return Err(OutOfTime);
                    }
                    self.ranges = radix.into_ids();
                    Work::Segments(0)
                }
                Work::Segments(next) if next < self.ranges.len() => {
                    let end = self.ranges.len().min(next + STEPS_PER_CHECK as usize);
                    (next..end).for_each(|index| self.add_range(lives, index));
                    Work::Segments(end)
                }
                Work::Segments(_) => {
                    let population = Population::new(side.history, Scope::At(self.moment));
                    let radix = Radix::with_capacity(population.len());
                    Work::Blocks(population, 0, radix)
                }
                Work::Blocks(population, next, mut radix) if next < population.len() => {
                    let end = population.len().min(next + STEPS_PER_CHECK as usize);
                    population.visit_part(side.history, next..end, &mut |id, size| {
                        if side.history.allocations.is_unexplained(id) {
                            self.outside_mapped.add(Weight { bytes: size, count: 1 });
                        } else {
                            radix.push(side.history.allocations.address(id), id.0);
                        }
                    });
                    Work::Blocks(population, end, radix)
                }
                Work::Blocks(population, next, mut radix) => {
                    if radix.step(slice).is_err() {
                        self.work = Work::Blocks(population, next, radix);
                        return Err(OutOfTime);
                    }
                    let ids = radix.into_ids();
                    self.blocks = Vec::with_capacity(ids.len());
                    Work::Place(ids, 0, 0)
                }
                Work::Place(ids, mut next, mut into) => {
                    for _ in 0..STEPS_PER_CHECK {
                        let id = ids.get(next).map(|&id| AllocationId(id));
                        let address = id.map(|id| side.history.allocations.address(id));
                        match self.segments.get(into) {
                            Some(segment) if address.is_none_or(|address| segment.end <= address) => {
                                self.close_gap(into, segment.end);
                                into += 1;
                            }
                            _ => {
                                let (Some(id), Some(address)) = (id, address) else { break };
                                self.place_block(side, id, [address, into as u64]);
                                next += 1;
                            }
                        }
                    }
                    if next < ids.len() || into < self.segments.len() {
                        Work::Place(ids, next, into)
                    } else {
                        Work::Done
                    }
                }
                Work::Done => return Ok(()),
            };
            slice.check()?;
        }
    }

    /// Appends a mapped range to the last segment, or starts a new segment with it. Ranges must be added in order of
    /// address.
    fn add_range(&mut self, lives: &SegmentLifetimes, index: usize) {
        let range_at = |index: usize| self.ranges.get(index).map(|&id| AllocationId(id));
        let Some(range) = range_at(index) else { return };
        let (address, bytes) = (lives.ranges.address(range), lives.ranges.size(range));
        let below = index.checked_sub(1).and_then(range_at);
        let extends = below.is_some_and(|below| lives.is_same_segment(below, range));
        if !extends {
            let sums = SegmentsSums { segments: 1, ..SegmentsSums::default() };
            let (kind, ranges) = (lives.kind_index(range).unwrap_or(0), [index as u32; 2]);
            self.segments.push(Segment {
                address,
                end: address,
                kind,
                ranges,
                blocks: [0; 2],
                sums,
                largest_block: None,
            });
        }
        if let Some(segment) = self.segments.last_mut() {
            segment.end = address.saturating_add(bytes);
            segment.ranges[1] = index as u32 + 1;
            // The final segment list of the file is more precise than events.
            if extends && lives.segment_at_end(range).is_some() {
                segment.kind = lives.kind_index(range).unwrap_or(segment.kind);
            }
            segment.sums.reserved = segment.sums.reserved.saturating_add(bytes);
        }
    }

    /// Appends a block. Adds it to the segment with index `into` if it starts inside this segment.
    fn place_block(&mut self, side: Side<'_>, id: AllocationId, [address, into]: [u64; 2]) {
        let requested = side.history.allocations.size(id);
        let (rounded, _) = side.device_data().rounded_size(id);
        let index = self.blocks.len() as u32;
        let segment = self.segments.get(into as usize).filter(|segment| segment.address <= address);
        let end = segment.map_or(u64::MAX, |segment| segment.end);
        let is_within = segment.is_some();
        self.close_gap(into as usize, address);
        self.blocks.push(Block { from: address, to: address.saturating_add(rounded).min(end), id: id.0 });
        match self.segments.get_mut(into as usize).filter(|_| is_within) {
            Some(segment) => {
                let sums = &mut segment.sums;
                if sums.blocks == 0 {
                    segment.blocks[0] = index;
                }
                segment.blocks[1] = index + 1;
                sums.blocks += 1;
                if segment.largest_block.is_none_or(|(_, largest)| requested > largest) {
                    segment.largest_block = Some((id.0, requested));
                }
                sums.requested = sums.requested.saturating_add(requested);
                sums.rounded = sums.rounded.saturating_add(rounded);
                if side.device_data().awaiting_free(id).is_some_and(|[from, _]| from <= self.moment) {
                    sums.awaiting_free = sums.awaiting_free.saturating_add(requested);
                }
            }
            None => self.outside_mapped.add(Weight { bytes: requested, count: 1 }),
        }
    }

    /// Moves the end of the last block down to `address` if the block overlaps it. Otherwise, counts the space up to
    /// `address` as free in the segment with index `into`.
    fn close_gap(&mut self, into: usize, address: u64) {
        let count = self.blocks.len() as u32;
        let last = self.blocks.last_mut();
        let until = last.map_or(0, |last| {
            last.to = last.to.min(address);
            last.to
        });
        let Some(segment) = self.segments.get_mut(into).filter(|segment| segment.address <= address) else { return };
        // A block that starts below the segment does not use any of its space.
        let until = if segment.blocks[1] == count { until.max(segment.address) } else { segment.address };
        segment.sums.add_free(address.saturating_sub(until));
    }
}
