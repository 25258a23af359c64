//! The allocator: finds a block for a request, splits it, and merges freed blocks with their neighbours.
//!
//! Rules and their order follow PyTorch's `DeviceCachingAllocator`. The best fit is the first free block by (stream,
//! size, address). Its front is handed out, the rest stays free. Blocks never merge across segments.

use super::blocks::{Block, Blocks, NONE, State};
use super::driver::{Driver, Kind, Operation};
use super::pool::{Key, Pool, Traits};
use super::recording::Place;
use super::rounding::{is_rounded_up, rounded, segment};
use super::settings::{Backend, GRAIN, Limits, SMALL, SMALL_SEGMENT, Settings};
use base::sorted::sorted_by_key;

/// Maximum request in bytes. No device has that much memory, so larger requests are out of memory.
const LARGEST: u64 = 1 << 44;

/// A reserved address range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) base: u64,
    pub(crate) page: u64,
}

/// Running totals of an allocator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub reserved: u64,
    /// Bytes of blocks that are live or awaiting free.
    pub allocated: u64,
    pub segment_allocs: u64,
    pub segment_frees: u64,
    pub maps: u64,
    pub unmaps: u64,
    pub retries: u64,
}

impl Totals {
    /// Returns the number of calls that take memory from the driver or give it back.
    pub fn driver_calls(&self) -> u64 {
        self.segment_allocs + self.segment_frees + self.maps + self.unmaps
    }
}

/// Counts of how often each rule affected a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exercised {
    /// Choices among several blocks.
    pub choices: u64,
    /// Choices that the address decided, among blocks of equal size.
    pub ties: u64,
    pub splits: u64,
    /// Blocks that kept a remainder too small to split off.
    pub tails: u64,
    pub merges: u64,
    /// Blocks at the growing end of an expandable segment that were skipped.
    pub skips: u64,
    /// New non-expandable segments.
    pub segments: u64,
    /// New pages of expandable segments.
    pub pages: u64,
    /// Decisions by `max_split_size` or `max_non_split_rounding`.
    pub unsplit: u64,
    pub rounded_up: u64,
    pub collections: u64,
    pub releases: u64,
    pub retries: u64,
    /// Requests on a stream other than the first.
    pub streams: u64,
    /// Deferred frees.
    pub awaited: u64,
    /// Requests of private pools.
    pub private: u64,
    /// Deferred frees that were completed because everything cached was released.
    pub completed: u64,
    /// Private pools whose memory was released.
    pub retired: u64,
    /// Requests whose segment size depends on `large_segment_size_mb`.
    pub large_segments: u64,
}

/// The caching allocator of one device.
#[derive(Clone, Debug)]
pub struct Allocator {
    pub(crate) settings: Settings,
    pub(crate) backend: Backend,
    pub(crate) limits: Limits,
    pub(crate) blocks: Blocks,
    /// Two pools for each pool id: small and large.
    pub(crate) pools: Vec<Pool>,
    /// Properties of pools by pool id, as far as they are known.
    pub(crate) traits: Vec<Traits>,
    /// Number of blocks awaiting free.
    awaiting: u64,
    /// Allocations whose deferred free was completed by the allocator. The caller drains them.
    pub(crate) completed: Vec<u32>,
    pub(crate) ranges: Vec<Range>,
    pub(crate) driver: Driver,
    /// Totals so far.
    pub totals: Totals,
    pub exercised: Exercised,
    /// Segment operations, if they are logged.
    pub(crate) log: Option<Vec<Operation>>,
    /// Stream and pool of each logged operation.
    pub(crate) log_places: Vec<Place>,
}

impl Allocator {
    pub(crate) fn new(settings: Settings, backend: Backend, limits: Limits, driver: Driver) -> Allocator {
        let (blocks, pools, traits, awaiting, completed) = Default::default();
        let (ranges, log_places, totals, exercised) = Default::default();
        Allocator {
            settings,
            backend,
            limits,
            blocks,
            pools,
            traits,
            awaiting,
            completed,
            ranges,
            driver,
            totals,
            exercised,
            log: None,
            log_places,
        }
    }

    /// Returns the index of the small or large pool of this id.
    pub(crate) fn pool(&mut self, id: u32, small: bool) -> u32 {
        let at = 2 * id + u32::from(!small);
        while self.pools.len() <= at as usize {
            let new = self.pools.len();
            let traits = self.traits.get(new / 2).copied().unwrap_or_default();
            self.pools.push(Pool::new(new.is_multiple_of(2), new > 1, traits));
        }
        at
    }

    pub(crate) fn pool_at(&mut self, pool: u32) -> &mut Pool {
        &mut self.pools[pool as usize]
    }

    /// Returns true if garbage collection is on.
    pub(crate) fn collects(&self) -> bool {
        self.settings.collects() && self.limits.allowed.is_some()
    }

    /// Returns the block for a request, or `None` if out of memory.
    pub fn allocate(&mut self, requested: u64, place: Place, allocation: u32) -> Option<u32> {
        let size = rounded(&self.settings, self.backend, requested);
        if size > LARGEST {
            return None;
        }
        let pool = self.pool(place.pool, size <= SMALL);
        self.exercised.streams += u64::from(place.stream > 0);
        if place.pool > 0 {
            self.exercised.private += 1;
            self.use_again(place.pool);
        }
        let found = match self.find(pool, size, place.stream) {
            Some(found) => found,
            None => self.obtain(pool, size, place.stream)?,
        };
        let found = self.align(found, size);
        let id = self.split(found, size);
        let block = self.blocks.at_mut(id);
        block.state = State::Live;
        block.allocation = allocation;
        self.totals.allocated = self.totals.allocated.saturating_add(block.size);
        // A block with a remainder does not show how its request was rounded.
        if block.size == size && is_rounded_up(&self.settings, self.backend, requested, size) {
            self.exercised.rounded_up += 1;
        }
        Some(id)
    }

    /// Gets a block from new memory. Releases cached memory and retries if there is none.
    #[cold]
    fn obtain(&mut self, pool: u32, size: u64, stream: u32) -> Option<u32> {
        if self.collects() {
            self.collect_garbage();
        }
        if self.settings.throws && self.is_beyond_limit(size) {
            return None;
        }
        if let Some(grown) = self.grow(pool, size, stream) {
            return Some(grown);
        }
        if self.release_available(pool, size, stream)
            && let Some(grown) = self.grow(pool, size, stream)
        {
            return Some(grown);
        }
        if self.pools[pool as usize].traits.captures {
            return None;
        }
        self.release_cached();
        self.driver.gave_everything();
        self.totals.retries += 1;
        self.exercised.retries += 1;
        self.grow(pool, size, stream)
    }

    fn grow(&mut self, pool: u32, size: u64, stream: u32) -> Option<u32> {
        let bytes = segment(&self.settings, size);
        if self.is_beyond_limit(size) {
            return None;
        }
        if self.settings.expandable {
            return self.grow_expandable(pool, size, stream);
        }
        let address = self.driver.allocate(bytes, self.totals.reserved)?;
        self.totals.segment_allocs += 1;
        self.exercised.segments += 1;
        self.exercised.large_segments += u64::from(size > SMALL && bytes == self.settings.large_segment);
        self.reserve(Operation { kind: Kind::Alloc, address, size: bytes }, stream, pool);
        Some(self.blocks.add(Block {
            address,
            size: bytes,
            freed_at: 0,
            stream,
            pool,
            previous: NONE,
            next: NONE,
            range: NONE,
            allocation: NONE,
            state: State::Free,
        }))
    }

    /// Returns true if a segment for a block of `size` bytes would exceed the process's memory fraction.
    fn is_beyond_limit(&self, size: u64) -> bool {
        let bytes = segment(&self.settings, size);
        self.limits.allowed.is_some_and(|allowed| self.totals.reserved.saturating_add(bytes) > allowed)
    }

    /// Adds a segment operation to the totals and the log.
    pub(crate) fn reserve(&mut self, operation: Operation, stream: u32, pool: u32) {
        let reserved = &mut self.totals.reserved;
        *reserved = match operation.kind.grows() {
            true => reserved.saturating_add(operation.size),
            false => reserved.saturating_sub(operation.size),
        };
        if !operation.kind.grows() {
            self.driver.given_back();
        }
        if let Some(log) = &mut self.log {
            log.push(operation);
            self.log_places.push(Place { stream, pool: pool / 2 });
        }
    }

    /// Takes the best free block out of a pool (PyTorch's `get_free_block`).
    fn find(&mut self, pool: u32, size: u64, stream: u32) -> Option<u32> {
        let collects = self.collects();
        let Allocator { settings, blocks, pools, exercised, .. } = self;
        let pool = &mut pools[pool as usize];
        if collects {
            pool.searches += 1;
        }
        let from = Key::from(stream, size);
        let mut next = pool.free.range(from..).take_while(|key| key.stream == stream).copied();
        let mut best = next.next()?;
        let mut block = blocks.at(best.block);
        let mut other = next.next();
        exercised.choices += u64::from(other.is_some());
        if block.is_expandable() && settings.expandable {
            let reach = |block: &Block| {
                let behind = Some(block.next).filter(|next| *next != NONE).map(|next| blocks.at(next));
                block.size.saturating_add(
                    behind.filter(|behind| behind.state == State::Unmapped).map_or(0, |behind| behind.size),
                )
            };
            while block.is_expandable()
                && let Some(key) = other.filter(|key| reach(blocks.at(key.block)) < reach(block))
            {
                (best, block, other) = (key, blocks.at(key.block), next.next());
                exercised.skips += 1;
            }
        } else {
            while block.is_expandable() {
                best = other?;
                (block, other) = (blocks.at(best.block), next.next());
            }
        }
        exercised.ties += u64::from(other.is_some_and(|other| other.size == best.size));
        if let Some(most) = settings.max_split {
            let is_kept_for_larger = size < most && best.size >= most;
            let is_too_large = size >= most && best.size >= size.saturating_add(settings.non_split);
            if is_kept_for_larger || is_too_large {
                exercised.unsplit += 1;
                return None;
            }
        }
        pool.free.remove(&best);
        Some(best.block)
    }

    /// Aligns a large block in an expandable segment, as torch_npu does. The front that is cut off stays free.
    fn align(&mut self, id: u32, size: u64) -> u32 {
        let Backend { aligned, .. } = self.backend;
        let block = *self.blocks.at(id);
        if aligned == 0 || !self.settings.expandable || size < SMALL_SEGMENT || block.address.is_multiple_of(aligned) {
            return id;
        }
        let front = aligned - block.address % aligned;
        if front.saturating_add(size) > block.size {
            return id;
        }
        self.blocks.at_mut(id).size = front;
        let (address, size) = (block.address.wrapping_add(front), block.size - front);
        let new = self.blocks.add_after(id, Block { address, size, ..block });
        self.keep_free(id);
        new
    }

    /// Splits off the end of a block if it is worth keeping, and returns the front (PyTorch's `should_split`).
    fn split(&mut self, id: u32, size: u64) -> u32 {
        let block = *self.blocks.at(id);
        let rest = block.size - size;
        let Pool { small: is_small, traits, .. } = self.pools[block.pool as usize];
        if traits.no_split {
            self.exercised.tails += u64::from(rest > 0);
            return id;
        }
        let may_split = self.settings.max_split.is_none_or(|most| size < most);
        let splits = if is_small || self.settings.expandable { rest >= GRAIN } else { may_split && rest > SMALL };
        if !splits {
            self.exercised.tails += u64::from(rest > 0);
            self.exercised.unsplit += u64::from(!may_split && rest > SMALL && !self.settings.expandable);
            return id;
        }
        self.exercised.splits += 1;
        let front = self.blocks.add_before(id, Block { size, ..block });
        let behind = self.blocks.at_mut(id);
        behind.address = behind.address.wrapping_add(size);
        behind.size = rest;
        self.keep_free(id);
        front
    }

    /// Returns all blocks, including unmapped ones, ordered by address.
    pub fn blocks(&self) -> Vec<Block> {
        let blocks = self.blocks.iter().map(|(_, block)| *block).collect();
        sorted_by_key(blocks, |block: &Block| block.address.into())
    }

    /// Marks a block as awaiting free, because another stream still uses it.
    pub fn request_free(&mut self, id: u32) {
        let block = self.blocks.at_mut(id);
        if block.state == State::Live {
            block.state = State::AwaitingFree;
            self.awaiting += 1;
        }
    }

    /// Frees the blocks that are awaiting free, either all or those of one pool id.
    pub(crate) fn complete_frees(&mut self, id: Option<u32>) {
        if self.awaiting == 0 {
            return;
        }
        let awaiting = self.blocks.iter().filter(|(_, block)| block.state == State::AwaitingFree);
        let of_pool = awaiting.filter(|(_, block)| id.is_none_or(|id| block.pool / 2 == id));
        let blocks: Vec<(u32, u32)> = of_pool.map(|(at, block)| (at, block.allocation)).collect();
        for (at, allocation) in blocks {
            self.free(at);
            self.completed.push(allocation);
            self.exercised.completed += 1;
        }
    }

    /// Frees a block.
    pub fn free(&mut self, id: u32) {
        let block = self.blocks.at_mut(id);
        if block.state == State::AwaitingFree {
            self.awaiting = self.awaiting.saturating_sub(1);
        }
        block.state = State::Free;
        block.allocation = NONE;
        self.totals.allocated = self.totals.allocated.saturating_sub(block.size);
        self.merge(id);
        self.keep_free(id);
    }

    /// Merges a block with the neighbours that have the same state. The block itself must not be in a pool's set.
    #[inline]
    pub(crate) fn merge(&mut self, id: u32) {
        let Block { state, pool, previous, next, .. } = *self.blocks.at(id);
        for neighbour in [previous, next] {
            if neighbour == NONE || self.blocks.at(neighbour).state != state {
                continue;
            }
            let other = self.blocks.at(neighbour);
            let pool = &mut self.pools[pool as usize];
            match state {
                State::Unmapped => pool.unmapped.remove(&Key::of_unmapped(neighbour, other)),
                _ => pool.free.remove(&Key::of(neighbour, other)),
            };
            self.blocks.absorb(id, neighbour);
            self.exercised.merges += 1;
        }
    }

    /// Adds a free block to its pool.
    pub(crate) fn keep_free(&mut self, id: u32) {
        let block = self.blocks.at_mut(id);
        let pool = &mut self.pools[block.pool as usize];
        block.freed_at = pool.searches;
        pool.free.insert(Key::of(id, block));
    }
}

#[cfg(test)]
#[path = "../../tests/units/allocator/model.rs"]
mod tests;
