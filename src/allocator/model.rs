//! The allocator: finds a block for a request, splits it, merges what is freed with its neighbours.
//!
//! The rules and their order are those of `DeviceCachingAllocator`: best fit by (stream, size, address); the front is handed out, the rest
//! stays free; blocks never merge across segments.

use super::blocks::{Block, Blocks, NONE, State};
use super::driver::{Driver, Kind, Operation};
use super::pool::{Key, Pool, Traits};
use super::recording::Place;
use super::rounding::{is_rounded_up, rounded, segment};
use super::settings::{Backend, GRAIN, Limits, SMALL, SMALL_SEGMENT, Settings};
use base::sorted::sorted_by_key;

/// No device has more: a larger request is out of memory.
const LARGEST: u64 = 1 << 44;

/// A reserved range of addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) base: u64,
    pub(crate) page: u64,
}

/// Running totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub reserved: u64,
    /// Bytes of blocks that are live or await their free.
    pub allocated: u64,
    pub segment_allocs: u64,
    pub segment_frees: u64,
    pub maps: u64,
    pub unmaps: u64,
    pub retries: u64,
}

impl Totals {
    /// Calls that take memory from the driver or give it back.
    pub fn driver_calls(&self) -> u64 {
        self.segment_allocs + self.segment_frees + self.maps + self.unmaps
    }
}

/// How often each rule decided something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exercised {
    /// Choices among several blocks, and those that the address decided.
    pub choices: u64,
    pub ties: u64,
    pub splits: u64,
    /// Blocks that kept a remainder.
    pub tails: u64,
    pub merges: u64,
    /// Blocks at the growing end that were left alone.
    pub skips: u64,
    /// New memory: segments of their own, and pages of expandable ones.
    pub segments: u64,
    pub pages: u64,
    /// `max_split_size` or `max_non_split_rounding` decided.
    pub unsplit: u64,
    pub rounded_up: u64,
    pub collections: u64,
    pub releases: u64,
    pub retries: u64,
    /// Requests on another stream than the first, frees that waited, requests of private pools.
    pub streams: u64,
    pub awaited: u64,
    pub private: u64,
    /// Frees that waited and were completed because everything cached was given back, and private pools that were given back.
    pub completed: u64,
    pub retired: u64,
    /// Requests whose segment would have another size under another `large_segment_size_mb`.
    pub large_segments: u64,
}

/// The allocator of one device.
#[derive(Clone, Debug)]
pub struct Allocator {
    pub(crate) settings: Settings,
    pub(crate) backend: Backend,
    pub(crate) limits: Limits,
    pub(crate) blocks: Blocks,
    /// Of each pool id two: small and large.
    pub(crate) pools: Vec<Pool>,
    /// By pool id, where anything is known.
    pub(crate) traits: Vec<Traits>,
    /// Blocks that await their free, and the allocations whose free was completed here: whoever frees takes them out.
    awaiting: u64,
    pub(crate) completed: Vec<u32>,
    pub(crate) ranges: Vec<Range>,
    pub(crate) driver: Driver,
    /// What has happened so far.
    pub totals: Totals,
    pub exercised: Exercised,
    /// Segment operations, where they are kept, and of which stream and pool each is.
    pub(crate) log: Option<Vec<Operation>>,
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

    /// The pool of this id for blocks of this size.
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

    /// Whether garbage is collected.
    pub(crate) fn collects(&self) -> bool {
        self.settings.collects() && self.limits.allowed.is_some()
    }

    /// The block for a request; `None` is out of memory.
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
        // A block that keeps a remainder does not show how its request was rounded.
        if block.size == size && is_rounded_up(&self.settings, self.backend, requested, size) {
            self.exercised.rounded_up += 1;
        }
        Some(id)
    }

    /// New memory; if there is none, after giving back what is cached.
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

    /// Whether the process may not reserve a segment for this block.
    fn is_beyond_limit(&self, size: u64) -> bool {
        let bytes = segment(&self.settings, size);
        self.limits.allowed.is_some_and(|allowed| self.totals.reserved.saturating_add(bytes) > allowed)
    }

    /// Counts a segment operation of this stream and pool.
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

    /// Takes the best free block of a pool.
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

    /// torch_npu: a large block of an expandable segment begins at a multiple of 16 KiB; what is in front stays free.
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

    /// The front of a block, where the rest is worth keeping.
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

    /// All blocks as they are now, unmapped ones as well, by address: a run is opened like a recording with them.
    pub fn blocks(&self) -> Vec<Block> {
        let blocks = self.blocks.iter().map(|(_, block)| *block).collect();
        sorted_by_key(blocks, |block: &Block| block.address.into())
    }

    /// The program lets go of a block that another stream still uses.
    pub fn request_free(&mut self, id: u32) {
        let block = self.blocks.at_mut(id);
        if block.state == State::Live {
            block.state = State::AwaitingFree;
            self.awaiting += 1;
        }
    }

    /// The device has done with all that awaits its free, or with what does of one pool id: the blocks are free.
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

    /// A block is free.
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

    /// Merges a block that is in no list with its neighbours, where they are of its kind.
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

    /// Puts a free block into its pool.
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
