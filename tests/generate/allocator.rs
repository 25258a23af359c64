//! A model of PyTorch's caching allocators: best fit, splitting, merging, emptying the cache.

use super::pool::{Class, GRANULE, Kind, Owner, Pool, SMALL_REQUEST};
use super::tracer::Context;
use std::collections::{BTreeMap, BTreeSet};

/// How far the address ranges of two pools with expandable segments are apart: more than all that is ever mapped.
const EXPANDABLE_SPAN: u64 = 1 << 40;

/// How far two segments of fixed size are apart, and what their addresses are multiples of.
const APART: u64 = 2 << 20;

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
    kind: Kind,
    free: BTreeSet<(Pool, u64, u64)>,
    /// Where the next segment of fixed size lies.
    next_segment: u64,
    /// Where the ranges of expandable segments begin.
    expandable: u64,
}

impl Allocator {
    pub(crate) fn new(kind: Kind, device: usize) -> Allocator {
        Allocator {
            blocks: BTreeMap::new(),
            segments: BTreeMap::new(),
            totals: Totals::default(),
            kind,
            free: BTreeSet::new(),
            next_segment: 0x7f00_0000_0000 + device as u64 * 0x40_0000_0000,
            expandable: 0x7000_0000_0000 + device as u64 * 4 * EXPANDABLE_SPAN,
        }
    }

    /// How many bytes have to be taken from the driver first, if no free block serves `request`. Expandable segments may grow in several
    /// places until one does.
    pub(crate) fn lacks(&self, request: u64, owner: Owner) -> Option<u64> {
        if self.best_fit(request, owner).is_some() {
            return None;
        }
        let size = self.rounded(request);
        let pool = Pool::of(size, owner);
        Some(match self.kind {
            Kind::Fixed => pool.segment_for(size),
            Kind::Expandable => self.gap(pool, size).1,
            Kind::Host => size,
        })
    }

    /// Takes `size` bytes from the driver for `request`; returns their address.
    pub(crate) fn grow(&mut self, request: u64, owner: Owner, size: u64, context: Option<Context>) -> u64 {
        let rounded = self.rounded(request);
        let pool = Pool::of(rounded, owner);
        let address = if self.kind == Kind::Expandable {
            self.gap(pool, rounded).0
        } else {
            let next = self.next_segment + size.next_multiple_of(APART) + APART;
            std::mem::replace(&mut self.next_segment, next)
        };
        // What lies behind it becomes a part of the same segment.
        let behind = self.segments.remove(&(address + size)).filter(|it| it.pool == pool);
        if let Some(behind) = &behind {
            let end = address + size + behind.size;
            self.blocks.range_mut(address + size..end).for_each(|(_, block)| block.segment = address);
        }
        let size_with_behind = size + behind.map_or(0, |behind| behind.size);
        let before = self.segments.range_mut(..address).next_back().filter(|(at, it)| *at + it.size == address);
        let segment = match before {
            Some((&before, segment)) => {
                segment.size += size_with_behind;
                self.blocks
                    .range_mut(address + size..address + size_with_behind)
                    .for_each(|(_, block)| block.segment = before);
                before
            }
            None => {
                self.segments.insert(address, Segment { size: size_with_behind, pool, context });
                address
            }
        };
        let block = Block { size, requested: 0, state: State::Allocated, context: None, born: None, segment };
        self.blocks.insert(address, block);
        self.totals.reserved += size;
        self.join(address);
        address
    }

    /// Hands out the smallest free block that serves `request`; [`Allocator::lacks`] must have said that there is one.
    pub(crate) fn allocate(&mut self, request: u64, owner: Owner, context: Option<Context>, born: Option<u64>) -> u64 {
        let key @ (pool, found, address) = self.best_fit(request, owner).expect("the caller grew the pool");
        self.free.remove(&key);
        let size = self.rounded(request);
        let rest = found - size;
        let is_split = match (self.kind, pool.class) {
            (Kind::Fixed, Class::Large) => rest > SMALL_REQUEST,
            _ => rest >= GRANULE,
        };
        let block = self.blocks.get_mut(&address).expect("a free block is a block");
        (block.requested, block.state, block.context, block.born) = (request, State::Allocated, context, born);
        if is_split {
            block.size = size;
            let segment = block.segment;
            self.insert_free(address + size, rest, segment);
        }
        self.totals.requested += request;
        self.totals.rounded += if is_split { size } else { found };
        address
    }

    /// The program lets go of the block, a stream does not yet.
    pub(crate) fn wait(&mut self, address: u64) {
        self.blocks.get_mut(&address).expect("a live block").state = State::PendingFree;
    }

    /// The block can be reused.
    pub(crate) fn free(&mut self, address: u64) {
        let freed = &self.blocks[&address];
        self.totals.requested -= freed.requested;
        self.totals.rounded -= freed.size;
        self.join(address);
    }

    /// What emptying the cache gives back to the driver, in the order it does: address and size of each part.
    pub(crate) fn releasable(&self) -> Vec<(u64, u64)> {
        // Large blocks first, small ones of them before.
        let of_class =
            |class| self.free.iter().filter(move |(pool, ..)| (pool.owner, pool.class) == (Owner::Default, class));
        let of_everyone = of_class(Class::Large).chain(of_class(Class::Small));
        match self.kind {
            Kind::Expandable => of_everyone
                .filter_map(|&(pool, size, address)| {
                    // Pages are counted from where their range begins.
                    let [range, _] = self.range(pool);
                    let start = range + (address - range).next_multiple_of(pool.page());
                    let end = range + (address + size - range) / pool.page() * pool.page();
                    Some((start, end.checked_sub(start)?))
                })
                .filter(|&(_, size)| size > 0)
                .collect(),
            Kind::Fixed | Kind::Host => of_everyone
                .filter(|(_, size, address)| self.segments.get(address).is_some_and(|segment| segment.size == *size))
                .map(|&(_, size, address)| (address, size))
                .collect(),
        }
    }

    /// Gives a part that is [`Allocator::releasable`] back; what is left of its segment on both sides are segments.
    pub(crate) fn release(&mut self, address: u64, size: u64) {
        let (&start, block) = self.blocks.range(..=address).next_back().expect("a part of a free block");
        let (block_end, at) = (start + block.size, block.segment);
        let segment = self.segments.remove(&at).expect("the segment of a block");
        let (end, segment_end) = (address + size, at + segment.size);
        self.free.remove(&(segment.pool, block_end - start, start));
        self.blocks.remove(&start);
        self.totals.reserved -= size;
        if end < segment_end {
            self.blocks.range_mut(end..segment_end).for_each(|(_, block)| block.segment = end);
            self.segments.insert(end, Segment { size: segment_end - end, ..segment.clone() });
        }
        if at < address {
            self.segments.insert(at, Segment { size: address - at, ..segment });
        }
        if start < address {
            self.insert_free(start, address - start, at);
        }
        if end < block_end {
            self.insert_free(end, block_end - end, end);
        }
    }

    /// Out of whose pool a block is.
    pub(crate) fn owner(&self, block: u64) -> Owner {
        self.segments[&self.blocks[&block].segment].pool.owner
    }

    /// The blocks of a segment in order of address.
    pub(crate) fn blocks_of(&self, segment: u64) -> impl Iterator<Item = (u64, &Block)> {
        let end = segment + self.segments[&segment].size;
        self.blocks.range(segment..end).map(|(&address, block)| (address, block))
    }

    /// Makes a block free, and one with its free neighbours.
    fn join(&mut self, address: u64) {
        let freed = self.blocks.remove(&address).expect("a block that is not free");
        let (segment, mut start, mut size) = (freed.segment, address, freed.size);
        let pool = self.segments[&segment].pool;
        let is_free = |block: &Block| block.segment == segment && block.state == State::Inactive;
        let after = self.blocks.range(address..).next().filter(|(_, block)| is_free(block));
        let before = self.blocks.range(..address).next_back().filter(|(_, block)| is_free(block));
        let [after, before] = [after, before].map(|neighbour| neighbour.map(|(&at, block)| (at, block.size)));
        for (at, neighbour) in after.into_iter().chain(before) {
            self.free.remove(&(pool, neighbour, at));
            self.blocks.remove(&at);
            (start, size) = (start.min(at), size + neighbour);
        }
        self.insert_free(start, size, segment);
    }

    fn insert_free(&mut self, address: u64, size: u64, segment: u64) {
        let block = Block { size, requested: 0, state: State::Inactive, context: None, born: None, segment };
        self.blocks.insert(address, block);
        self.free.insert((self.segments[&segment].pool, size, address));
    }

    /// Where the next pages of a pool with expandable segments are mapped for a block of `size`, and how many bytes: in the first gap of
    /// the first stretch without a live block that is long enough.
    fn gap(&self, pool: Pool, size: u64) -> (u64, u64) {
        let [start, end] = self.range(pool);
        let mapped = self.segments.range(start..end).map(|(&address, segment)| [address, address + segment.size]);
        let mut from = start;
        let mut gaps = Vec::new();
        for [begins, ends] in mapped.chain([[end, end]]) {
            if from < begins {
                gaps.push([from, begins]);
            }
            from = ends;
        }
        for (at, &[begins, ends]) in gaps.iter().enumerate() {
            let free = self.free_below(begins);
            let mut bytes = free + ends - begins;
            for pair in gaps[at..].windows(2) {
                // What is mapped between two gaps is free as a whole, or ends the stretch.
                let [[_, low], [high, next_end]] = [pair[0], pair[1]];
                let between = self.free_below(high);
                bytes += between;
                if between < high - low {
                    // The free front of it counts as well.
                    bytes -= between;
                    bytes += self.free_at(low);
                    break;
                }
                bytes += next_end - high;
            }
            if bytes >= size {
                return (begins, (size - free).next_multiple_of(pool.page()).min(ends - begins));
            }
        }
        unreachable!("no device has as much memory as a pool has addresses")
    }

    /// The addresses of a pool with expandable segments.
    fn range(&self, pool: Pool) -> [u64; 2] {
        let range = 2 * u64::from(pool.owner == Owner::MemPool) + u64::from(pool.class == Class::Large);
        let start = self.expandable + range * EXPANDABLE_SPAN;
        [start, start + EXPANDABLE_SPAN]
    }

    /// Bytes of a free block and of the gap right behind it.
    fn reach(&self, &(pool, size, address): &(Pool, u64, u64)) -> u64 {
        let [_, end] = self.range(pool);
        let at = address + size;
        let next = self.segments.range(address + 1..end).next().map_or(end, |(&next, _)| next);
        let segment = self.blocks[&address].segment;
        let is_last = segment + self.segments[&segment].size == at;
        size + if is_last { next - at } else { 0 }
    }

    /// Free bytes that begin at `address`.
    fn free_at(&self, address: u64) -> u64 {
        self.blocks.get(&address).filter(|block| block.state == State::Inactive).map_or(0, |block| block.size)
    }

    /// Free bytes that end at `address`.
    fn free_below(&self, address: u64) -> u64 {
        let before = self.blocks.range(..address).next_back();
        let before = before.filter(|&(&at, block)| at + block.size == address && block.state == State::Inactive);
        before.map_or(0, |(_, block)| block.size)
    }

    fn best_fit(&self, request: u64, owner: Owner) -> Option<(Pool, u64, u64)> {
        let size = self.rounded(request);
        let pool = Pool::of(size, owner);
        let mut fitting =
            self.free.range((pool, size, 0)..).copied().take_while(|&(found_in, ..)| found_in == pool).peekable();
        let mut found = fitting.next()?;
        // A block that can grow is left for those that need it to.
        while self.kind == Kind::Expandable
            && let Some(next) = fitting.next_if(|next| self.reach(next) < self.reach(&found))
        {
            found = next;
        }
        Some(found).filter(|&(_, bytes, _)| self.kind != Kind::Host || bytes == size)
    }

    fn rounded(&self, request: u64) -> u64 {
        let granules = request.max(1).next_multiple_of(GRANULE);
        if self.kind == Kind::Host { granules.next_power_of_two() } else { granules }
    }
}
