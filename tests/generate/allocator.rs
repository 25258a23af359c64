//! A model of PyTorch's caching allocator: rounding, two pools, best fit, splitting, merging, emptying the cache.

use super::tracer::Context;
use std::collections::{BTreeMap, BTreeSet};

const MIB: u64 = 1 << 20;
/// Sizes are multiples of this.
const GRANULE: u64 = 512;
/// Requests up to this come from the small pool, whose segments all have [`SMALL_SEGMENT`].
const SMALL_REQUEST: u64 = MIB;
const SMALL_SEGMENT: u64 = 2 * MIB;
/// Requests below this share segments of [`LARGE_SEGMENT`]; larger ones get their own, rounded to 2 MiB.
const SHARED_REQUEST: u64 = 10 * MIB;
const LARGE_SEGMENT: u64 = 20 * MIB;

/// What a block is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Allocated,
    /// Freed by the program, still used by a stream.
    PendingFree,
    Inactive,
}

/// One block. Sizes in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) size: u64,
    pub(crate) requested: u64,
    pub(crate) state: State,
    pub(crate) context: Option<Context>,
    /// Number of the event that allocated it; `None` when that was before recording.
    pub(crate) born: Option<u64>,
    segment: u64,
}

/// One segment.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) size: u64,
    pub(crate) pool: Pool,
    pub(crate) context: Option<Context>,
}

/// Which requests a segment serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pool {
    Small,
    Large,
}

/// Sums in bytes: of live blocks (pending ones too) as requested and as handed out, and of segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) requested: u64,
    pub(crate) rounded: u64,
    pub(crate) reserved: u64,
}

/// The allocator of one device. Blocks and segments are named by their address.
#[derive(Clone, Debug)]
pub(crate) struct Allocator {
    pub(crate) blocks: BTreeMap<u64, Block>,
    pub(crate) segments: BTreeMap<u64, Segment>,
    pub(crate) totals: Totals,
    free: BTreeSet<(Pool, u64, u64)>,
    next_segment: u64,
}

impl Allocator {
    pub(crate) fn new(device: usize) -> Allocator {
        Allocator {
            blocks: BTreeMap::new(),
            segments: BTreeMap::new(),
            totals: Totals::default(),
            free: BTreeSet::new(),
            next_segment: 0x7f00_0000_0000 + device as u64 * 0x40_0000_0000,
        }
    }

    /// The size of the segment that `request` needs first, if no free block serves it.
    pub(crate) fn lacks(&self, request: u64) -> Option<u64> {
        self.best_fit(request).is_none().then(|| match rounded(request) {
            size if pool(size) == Pool::Small => SMALL_SEGMENT.max(size),
            size if size < SHARED_REQUEST => LARGE_SEGMENT,
            size => size.next_multiple_of(2 * MIB),
        })
    }

    /// Takes a segment of `size` from the driver for `request`; returns its address.
    pub(crate) fn grow(&mut self, request: u64, size: u64, context: Option<Context>) -> u64 {
        let address = self.next_segment;
        self.next_segment += size.next_multiple_of(2 * MIB) + 2 * MIB;
        let pool = pool(rounded(request));
        self.segments.insert(address, Segment { size, pool, context });
        let block = Block { size, requested: 0, state: State::Inactive, context: None, born: None, segment: address };
        self.blocks.insert(address, block);
        self.free.insert((pool, size, address));
        self.totals.reserved += size;
        address
    }

    /// Hands out the smallest free block that serves `request`; [`Allocator::lacks`] must have said that there is one.
    pub(crate) fn allocate(&mut self, request: u64, context: Option<Context>, born: Option<u64>) -> u64 {
        let key @ (pool, found, address) = self.best_fit(request).expect("the caller grew the pool");
        self.free.remove(&key);
        let size = rounded(request);
        let rest = found - size;
        let is_split = match pool {
            Pool::Small => rest >= GRANULE,
            Pool::Large => rest > SMALL_REQUEST,
        };
        let block = self.blocks.get_mut(&address).expect("a free block is a block");
        (block.requested, block.state, block.context, block.born) = (request, State::Allocated, context, born);
        if is_split {
            block.size = size;
            let rest_of_it = Block {
                size: rest,
                requested: 0,
                state: State::Inactive,
                context: None,
                born: None,
                segment: block.segment,
            };
            self.blocks.insert(address + size, rest_of_it);
            self.free.insert((pool, rest, address + size));
        }
        self.totals.requested += request;
        self.totals.rounded += if is_split { size } else { found };
        address
    }

    /// The program lets go of the block, a stream does not yet.
    pub(crate) fn wait(&mut self, address: u64) {
        self.blocks.get_mut(&address).expect("a live block").state = State::PendingFree;
    }

    /// The block can be reused: it joins free neighbours of its segment.
    pub(crate) fn free(&mut self, address: u64) {
        let freed = self.blocks.get_mut(&address).expect("a live block");
        self.totals.requested -= freed.requested;
        self.totals.rounded -= freed.size;
        freed.state = State::Inactive;
        let (segment, mut start, mut size) = (freed.segment, address, freed.size);
        let pool = self.segments[&segment].pool;
        let is_free = |block: &Block| block.segment == segment && block.state == State::Inactive;

        if let Some((&after, block)) = self.blocks.range(address + 1..).next().filter(|(_, block)| is_free(block)) {
            self.free.remove(&(pool, block.size, after));
            size += block.size;
            self.blocks.remove(&after);
        }
        if let Some((&before, block)) = self.blocks.range(..address).next_back().filter(|(_, block)| is_free(block)) {
            self.free.remove(&(pool, block.size, before));
            size += block.size;
            self.blocks.remove(&address);
            start = before;
        }
        self.blocks.get_mut(&start).expect("the first of those joined").size = size;
        self.free.insert((pool, size, start));
    }

    /// The segments that hold nothing live.
    pub(crate) fn empty_segments(&self) -> Vec<u64> {
        let is_empty = |address: &u64| {
            self.blocks
                .get(address)
                .is_some_and(|block| block.state == State::Inactive && block.size == self.segments[address].size)
        };
        self.segments.keys().copied().filter(is_empty).collect()
    }

    /// Gives an empty segment back to the driver; returns its size.
    pub(crate) fn release(&mut self, address: u64) -> u64 {
        let segment = self.segments.remove(&address).expect("an empty segment");
        self.blocks.remove(&address);
        self.free.remove(&(segment.pool, segment.size, address));
        self.totals.reserved -= segment.size;
        segment.size
    }

    /// The blocks of a segment in order of address.
    pub(crate) fn blocks_of(&self, segment: u64) -> impl Iterator<Item = (u64, &Block)> {
        let end = segment + self.segments[&segment].size;
        self.blocks.range(segment..end).map(|(&address, block)| (address, block))
    }

    fn best_fit(&self, request: u64) -> Option<(Pool, u64, u64)> {
        let size = rounded(request);
        let pool = pool(size);
        self.free.range((pool, size, 0)..).next().copied().filter(|&(found, ..)| found == pool)
    }
}

fn rounded(request: u64) -> u64 {
    request.max(1).next_multiple_of(GRANULE)
}

fn pool(size: u64) -> Pool {
    if size <= SMALL_REQUEST { Pool::Small } else { Pool::Large }
}
