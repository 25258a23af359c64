//! What was held from the driver at a moment and the live blocks in it: segments and blocks by address.
//!
//! ```text
//! ranges that are there   [----][--]      [-----]      sorted by address; neighbours of one segment are put together
//! segments                [--------]      [-----]
//! live blocks              == =  ===       ==     =    sorted by address; each ends where the next begins at the latest
//! free                    .  . ..         .  ...       what is left of the segments
//!                                                 ^ lies in nothing that is mapped: astray
//! ```
//! A file that contradicts itself may have a block begin inside another: the lower one then ends there, and of two at one address the
//! older has no room at all. So every byte of a segment is of one block, or free.

use crate::answers::Population;
use crate::open::OpenFile;
use crate::protocol::{Scope, StateSums, Weight};
use crate::radix::Radix;
use base::slice::{STEPS, Slice, Sliced, Spent};
use base::units::Moment;
use history::replay::{AllocationId, Candidates, DeviceHistory, SegmentLives};

/// The state of a device at a moment.
pub(crate) struct DeviceState {
    pub(crate) device: i64,
    pub(crate) moment: u32,
    pub(crate) segments: Vec<Segment>,
    /// All live blocks that have an address, by that.
    pub(super) blocks: Vec<Block>,
    /// The ranges that are mapped, by address.
    pub(super) ranges: Vec<u32>,
    /// Live bytes, requested, that lie in nothing that is mapped, and those that nothing explains.
    pub(crate) astray: Weight,
    work: Work,
}

/// A segment: ranges without a gap between them that are of one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Segment {
    pub(crate) address: u64,
    pub(crate) end: u64,
    /// Its number in [`SegmentLives::kinds`].
    pub(crate) kind: u32,
    /// Its ranges: the first place in [`DeviceState::ranges`], and the first beyond.
    pub(super) ranges: [u32; 2],
    /// Its blocks: the first place in [`DeviceState::blocks`], and the first beyond.
    pub(super) blocks: [u32; 2],
    pub(crate) sums: StateSums,
    /// The allocation of its largest live block, and that block's requested bytes; of equal ones that with the lowest address.
    pub(crate) keeper: Option<(u32, u64)>,
}

/// A live block, as it is laid out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Block {
    pub(crate) from: u64,
    /// The first address that is not its any more.
    pub(crate) to: u64,
    pub(crate) id: u32,
}

/// What comes next.
enum Work {
    /// Looks for the ranges that are there, from this place of the candidates on.
    Ranges(Candidates, usize, Radix),
    /// Puts ranges together to segments, from this place on.
    Segments(usize),
    /// Looks for the live blocks, from this place of the candidates on.
    Blocks(Population, usize, Radix),
    /// Lays out the sorted blocks from this place on, into the segments from that on.
    Lay(Vec<u32>, usize, usize),
    Done,
}

impl DeviceState {
    /// Nothing yet; of a moment that the trace has.
    pub(crate) fn new(history: &DeviceHistory, lives: &SegmentLives, moment: u32) -> DeviceState {
        let moment = moment.min(history.event_count());
        let candidates = lives.live.candidates(&lives.ranges, Moment(moment));
        let radix = Radix::with_room(candidates.len());
        let (segments, blocks, ranges, astray) = Default::default();
        let work = Work::Ranges(candidates, 0, radix);
        DeviceState { device: history.device, moment, segments, blocks, ranges, astray, work }
    }

    /// Whether it is that of this device and moment.
    pub(super) fn is_of(&self, history: &DeviceHistory, moment: u32) -> bool {
        (self.device, self.moment) == (history.device, moment.min(history.event_count()))
    }

    /// The segment that holds an address.
    pub(super) fn segment_at(&self, address: u64) -> Option<&Segment> {
        let after = self.segments.partition_point(|segment| segment.address <= address);
        self.segments.get(after.checked_sub(1)?).filter(|segment| address < segment.end)
    }

    /// The moment since which all of a segment is mapped.
    pub(crate) fn mapped_since(&self, segment: &Segment, lives: &SegmentLives) -> u32 {
        let [first, beyond] = segment.ranges.map(|place| place as usize);
        let ranges = self.ranges.get(first..beyond).unwrap_or_default();
        ranges.iter().map(|&id| lives.ranges.born(AllocationId(id)).0).max().unwrap_or(0)
    }

    /// The lowest range of a segment.
    pub(crate) fn first_range(&self, segment: &Segment) -> Option<AllocationId> {
        self.ranges.get(segment.ranges[0] as usize).map(|&id| AllocationId(id))
    }

    /// The blocks of a segment.
    pub(crate) fn blocks_of(&self, segment: &Segment) -> &[Block] {
        let [first, beyond] = segment.blocks.map(|place| place as usize);
        self.blocks.get(first..beyond).unwrap_or_default()
    }

    /// The free blocks of a segment from its `next`-th block on: address and bytes of what is before each, and behind the last.
    pub(super) fn free_of<'a>(&'a self, segment: &'a Segment, next: usize) -> impl Iterator<Item = (u64, u64)> + 'a {
        let blocks = self.blocks_of(segment);
        let before = next.checked_sub(1).and_then(|before| blocks.get(before));
        let mut until = before.map_or(segment.address, |block| block.to);
        let begins = blocks.iter().skip(next).map(|block| (block.from, block.to)).chain([(segment.end, segment.end)]);
        let count = (blocks.len() + 1).saturating_sub(next);
        begins.take(count).map(move |(from, to)| {
            let free = (until, from.saturating_sub(until));
            until = to;
            free
        })
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.segments.capacity() * size_of::<Segment>()
            + self.blocks.capacity() * size_of::<Block>()
            + self.ranges.capacity() * size_of::<u32>()
            + match &self.work {
                Work::Ranges(_, _, radix) | Work::Blocks(_, _, radix) => radix.heap_bytes(),
                Work::Lay(ids, ..) => ids.capacity() * size_of::<u32>(),
                _ => 0,
            }
    }

    /// Works until it is done. The file must be the same every time.
    pub(crate) fn step(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        lives: &SegmentLives,
        slice: &mut Slice,
    ) -> Sliced {
        let moment = Moment(self.moment);
        loop {
            self.work = match std::mem::replace(&mut self.work, Work::Done) {
                Work::Ranges(candidates, next, mut radix) if next < candidates.len() => {
                    let end = candidates.len().min(next + STEPS as usize);
                    let ids = (next..end).filter_map(|place| lives.live.candidate(&candidates, place));
                    for id in ids.filter(|&id| lives.ranges.outlives(id, moment)) {
                        radix.push(lives.ranges.address(id), id.0);
                    }
                    Work::Ranges(candidates, end, radix)
                }
                Work::Ranges(candidates, next, mut radix) => {
                    if radix.step(slice).is_err() {
                        self.work = Work::Ranges(candidates, next, radix);
                        return Err(Spent);
                    }
                    self.ranges = radix.into_ids();
                    Work::Segments(0)
                }
                Work::Segments(next) if next < self.ranges.len() => {
                    let end = self.ranges.len().min(next + STEPS as usize);
                    (next..end).for_each(|place| self.range(lives, place));
                    Work::Segments(end)
                }
                Work::Segments(_) => {
                    let population = Population::new(history, Scope::At(self.moment));
                    let radix = Radix::with_room(population.len());
                    Work::Blocks(population, 0, radix)
                }
                Work::Blocks(population, next, mut radix) if next < population.len() => {
                    let end = population.len().min(next + STEPS as usize);
                    population.part(history, next..end, &mut |id, size| {
                        if history.allocations.is_unexplained(id) {
                            self.astray.add(Weight { bytes: size, count: 1 });
                        } else {
                            radix.push(history.allocations.address(id), id.0);
                        }
                    });
                    Work::Blocks(population, end, radix)
                }
                Work::Blocks(population, next, mut radix) => {
                    if radix.step(slice).is_err() {
                        self.work = Work::Blocks(population, next, radix);
                        return Err(Spent);
                    }
                    let ids = radix.into_ids();
                    self.blocks = Vec::with_capacity(ids.len());
                    Work::Lay(ids, 0, 0)
                }
                Work::Lay(ids, mut next, mut into) => {
                    for _ in 0..STEPS {
                        let id = ids.get(next).map(|&id| AllocationId(id));
                        let address = id.map(|id| history.allocations.address(id));
                        match self.segments.get(into) {
                            Some(segment) if address.is_none_or(|address| segment.end <= address) => {
                                self.free_before(into, segment.end);
                                into += 1;
                            }
                            _ => {
                                let (Some(id), Some(address)) = (id, address) else { break };
                                self.lay(file, history, id, [address, into as u64]);
                                next += 1;
                            }
                        }
                    }
                    if next < ids.len() || into < self.segments.len() { Work::Lay(ids, next, into) } else { Work::Done }
                }
                Work::Done => return Ok(()),
            };
            slice.check()?;
        }
    }

    /// A range that is there, above all before it.
    fn range(&mut self, lives: &SegmentLives, place: usize) {
        let range_at = |place: usize| self.ranges.get(place).map(|&id| AllocationId(id));
        let Some(range) = range_at(place) else { return };
        let (address, bytes) = (lives.ranges.address(range), lives.ranges.size(range));
        let below = place.checked_sub(1).and_then(range_at);
        let goes_on = below.is_some_and(|below| lives.goes_on(below, range));
        if !goes_on {
            let sums = StateSums { segments: 1, ..StateSums::default() };
            let (kind, ranges) = (lives.kind_number(range).unwrap_or(0), [place as u32; 2]);
            self.segments.push(Segment { address, end: address, kind, ranges, blocks: [0; 2], sums, keeper: None });
        }
        if let Some(segment) = self.segments.last_mut() {
            segment.end = address.saturating_add(bytes);
            segment.ranges[1] = place as u32 + 1;
            // What the file lists at its end tells more than events do.
            if goes_on && lives.segment_at_end(range).is_some() {
                segment.kind = lives.kind_number(range).unwrap_or(segment.kind);
            }
            segment.sums.reserved = segment.sums.reserved.saturating_add(bytes);
        }
    }

    /// The next block: in the segment at this place, where it does not lie below that.
    fn lay(&mut self, file: &OpenFile, history: &DeviceHistory, id: AllocationId, [address, into]: [u64; 2]) {
        let requested = history.allocations.size(id);
        let (rounded, _) = file.about(history).rounded(id);
        let place = self.blocks.len() as u32;
        let segment = self.segments.get(into as usize).filter(|segment| segment.address <= address);
        let end = segment.map_or(u64::MAX, |segment| segment.end);
        let is_within = segment.is_some();
        self.free_before(into as usize, address);
        self.blocks.push(Block { from: address, to: address.saturating_add(rounded).min(end), id: id.0 });
        match self.segments.get_mut(into as usize).filter(|_| is_within) {
            Some(segment) => {
                let sums = &mut segment.sums;
                if sums.blocks == 0 {
                    segment.blocks[0] = place;
                }
                segment.blocks[1] = place + 1;
                sums.blocks += 1;
                if segment.keeper.is_none_or(|(_, most)| requested > most) {
                    segment.keeper = Some((id.0, requested));
                }
                sums.requested = sums.requested.saturating_add(requested);
                sums.rounded = sums.rounded.saturating_add(rounded);
                if file.about(history).pending(id).is_some_and(|[from, _]| from <= self.moment) {
                    sums.pending = sums.pending.saturating_add(requested);
                }
            }
            None => self.astray.add(Weight { bytes: requested, count: 1 }),
        }
    }

    /// Ends the last block at an address at the latest; what is free between it and there, of the segment at this place.
    fn free_before(&mut self, into: usize, address: u64) {
        let count = self.blocks.len() as u32;
        let last = self.blocks.last_mut();
        let until = last.map_or(0, |last| {
            last.to = last.to.min(address);
            last.to
        });
        let Some(segment) = self.segments.get_mut(into).filter(|segment| segment.address <= address) else { return };
        // What begins below the segment has nothing of it.
        let until = if segment.blocks[1] == count { until.max(segment.address) } else { segment.address };
        segment.sums.add_free(address.saturating_sub(until));
    }
}
