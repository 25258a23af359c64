//! A model of PyTorch's caching allocators: best fit, splitting, merging, and emptying the cache.

use super::pool::{Class, GRANULE, Kind, Owner, Pool, SMALL_REQUEST};
use super::tracer::Context;
use std::collections::{BTreeMap, BTreeSet};

/// Distance between the address ranges of two pools with expandable segments, in bytes. More than is ever mapped.
const EXPANDABLE_SPAN: u64 = 1 << 40;

/// Distance between two segments of fixed size and alignment of their addresses, in bytes.
const SEGMENT_SPACING: u64 = 2 << 20;

/// State of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Allocated,
    /// Freed by the program but still used by a stream.
    PendingFree,
    Inactive,
}

/// A block. Sizes are in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) size: u64,
    pub(crate) requested: u64,
    pub(crate) state: State,
    pub(crate) context: Option<Context>,
    /// Number of the event that allocated it, or `None` if it was allocated before recording.
    pub(crate) allocated_at: Option<u64>,
    segment: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) size: u64,
    pub(crate) pool: Pool,
    pub(crate) context: Option<Context>,
}

/// Sums in bytes over live blocks, including those awaiting free, and over segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) requested: u64,
    pub(crate) rounded: u64,
    pub(crate) reserved: u64,
}

/// The allocator of one device. Blocks and segments are keyed by address.
#[derive(Clone, Debug)]
pub(crate) struct Allocator {
    pub(crate) blocks: BTreeMap<u64, Block>,
    pub(crate) segments: BTreeMap<u64, Segment>,
    pub(crate) totals: Totals,
    kind: Kind,
    free: BTreeSet<(Pool, u64, u64)>,
    /// Address of the next segment of fixed size.
    next_segment: u64,
    /// Start of the address ranges of expandable segments.
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

    /// Returns the number of bytes to request from the driver if no free block fits `request`. Expandable segments may
    /// need several calls.
    pub(crate) fn missing_bytes(&self, request: u64, owner: Owner) -> Option<u64> {
        if self.best_fit(request, owner).is_some() {
            return None;
        }
        let size = self.rounded(request);
        let pool = Pool::for_size(size, owner);
        Some(match self.kind {
            Kind::Fixed => pool.segment_for(size),
            Kind::Expandable => self.next_mapping(pool, size).1,
            Kind::Host => size,
        })
    }

    /// Adds `size` bytes from the driver for `request` and returns their address.
    pub(crate) fn grow(&mut self, request: u64, owner: Owner, size: u64, context: Option<Context>) -> u64 {
        let rounded = self.rounded(request);
        let pool = Pool::for_size(rounded, owner);
        let address = if self.kind == Kind::Expandable {
            self.next_mapping(pool, rounded).0
        } else {
            let next = self.next_segment + size.next_multiple_of(SEGMENT_SPACING) + SEGMENT_SPACING;
            std::mem::replace(&mut self.next_segment, next)
        };
        // A segment right behind it is merged.
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
        let block = Block { size, requested: 0, state: State::Allocated, context: None, allocated_at: None, segment };
        self.blocks.insert(address, block);
        self.totals.reserved += size;
        self.free_and_merge(address);
        address
    }

    /// Allocates the smallest free block that fits `request`. Panics if [`Allocator::lacks`] returns `Some`.
    pub(crate) fn allocate(
        &mut self,
        request: u64,
        owner: Owner,
        context: Option<Context>,
        allocated_at: Option<u64>,
    ) -> u64 {
        let key @ (pool, found, address) = self.best_fit(request, owner).expect("the caller grew the pool");
        self.free.remove(&key);
        let size = self.rounded(request);
        let rest = found - size;
        let is_split = match (self.kind, pool.class) {
            (Kind::Fixed, Class::Large) => rest > SMALL_REQUEST,
            _ => rest >= GRANULE,
        };
        let block = self.blocks.get_mut(&address).expect("a free block has an entry");
        (block.requested, block.state, block.context, block.allocated_at) =
            (request, State::Allocated, context, allocated_at);
        if is_split {
            block.size = size;
            let segment = block.segment;
            self.insert_free(address + size, rest, segment);
        }
        self.totals.requested += request;
        self.totals.rounded += if is_split { size } else { found };
        address
    }

    /// Marks a block as awaiting free: the program has freed it, but a stream still uses it.
    pub(crate) fn mark_pending(&mut self, address: u64) {
        self.blocks.get_mut(&address).expect("a live block").state = State::PendingFree;
    }

    /// Frees a block for reuse.
    pub(crate) fn free(&mut self, address: u64) {
        let freed = &self.blocks[&address];
        self.totals.requested -= freed.requested;
        self.totals.rounded -= freed.size;
        self.free_and_merge(address);
    }

    /// Returns address and size of each part that emptying the cache returns to the driver, in PyTorch's order.
    pub(crate) fn releasable(&self) -> Vec<(u64, u64)> {
        // Large blocks before small ones.
        let of_class =
            |class| self.free.iter().filter(move |(pool, ..)| (pool.owner, pool.class) == (Owner::Default, class));
        let of_everyone = of_class(Class::Large).chain(of_class(Class::Small));
        match self.kind {
            Kind::Expandable => of_everyone
                .filter_map(|&(pool, size, address)| {
                    // Pages are aligned to the start of the range.
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

    /// Returns a [`Allocator::releasable`] part to the driver. The rest of its segment on both sides becomes segments
    /// of their own.
    pub(crate) fn release(&mut self, address: u64, size: u64) {
        let (&start, block) = self.blocks.range(..=address).next_back().expect("the part lies in a free block");
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

    /// Returns the owner of a block's pool.
    pub(crate) fn owner(&self, block: u64) -> Owner {
        self.segments[&self.blocks[&block].segment].pool.owner
    }

    /// Returns the blocks of a segment, sorted by address.
    pub(crate) fn blocks_of(&self, segment: u64) -> impl Iterator<Item = (u64, &Block)> {
        let end = segment + self.segments[&segment].size;
        self.blocks.range(segment..end).map(|(&address, block)| (address, block))
    }

    /// Makes a block free and merges it with free neighbors.
    fn free_and_merge(&mut self, address: u64) {
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
        let block = Block { size, requested: 0, state: State::Inactive, context: None, allocated_at: None, segment };
        self.blocks.insert(address, block);
        self.free.insert((self.segments[&segment].pool, size, address));
    }

    /// Returns address and bytes of the pages to map next for a block of `size`: in the first gap of the first stretch
    /// without live blocks that is long enough.
    fn next_mapping(&self, pool: Pool, size: u64) -> (u64, u64) {
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
                // The mapped part between two gaps is either all free or ends the stretch.
                let [[_, low], [high, next_end]] = [pair[0], pair[1]];
                let between = self.free_below(high);
                bytes += between;
                if between < high - low {
                    // Its free front counts as well.
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

    /// Returns the address range of a pool with expandable segments.
    fn range(&self, pool: Pool) -> [u64; 2] {
        let range = 2 * u64::from(pool.owner == Owner::MemPool) + u64::from(pool.class == Class::Large);
        let start = self.expandable + range * EXPANDABLE_SPAN;
        [start, start + EXPANDABLE_SPAN]
    }

    /// Returns the size of a free block and of the gap right behind it.
    fn growable_size(&self, &(pool, size, address): &(Pool, u64, u64)) -> u64 {
        let [_, end] = self.range(pool);
        let at = address + size;
        let next = self.segments.range(address + 1..end).next().map_or(end, |(&next, _)| next);
        let segment = self.blocks[&address].segment;
        let is_last = segment + self.segments[&segment].size == at;
        size + if is_last { next - at } else { 0 }
    }

    /// Returns the free bytes that start at `address`.
    fn free_at(&self, address: u64) -> u64 {
        self.blocks.get(&address).filter(|block| block.state == State::Inactive).map_or(0, |block| block.size)
    }

    /// Returns the free bytes that end at `address`.
    fn free_below(&self, address: u64) -> u64 {
        let before = self.blocks.range(..address).next_back();
        let before = before.filter(|&(&at, block)| at + block.size == address && block.state == State::Inactive);
        before.map_or(0, |(_, block)| block.size)
    }

    fn best_fit(&self, request: u64, owner: Owner) -> Option<(Pool, u64, u64)> {
        let size = self.rounded(request);
        let pool = Pool::for_size(size, owner);
        let mut fitting =
            self.free.range((pool, size, 0)..).copied().take_while(|&(found_in, ..)| found_in == pool).peekable();
        let mut found = fitting.next()?;
        // Blocks that can grow are left for larger requests.
        while self.kind == Kind::Expandable
            && let Some(next) = fitting.next_if(|next| self.growable_size(next) < self.growable_size(&found))
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
