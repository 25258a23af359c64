//! The allocator: finds a block for a request, splits it, and merges freed blocks with their neighbours.
//!
//! The rules and their order are those of PyTorch's `DeviceCachingAllocator`. The best fit is the first free block by
//! (stream, size, address). A request gets the front of the block, and the rest stays free. Blocks are never merged
//! across segments.

use super::blocks::{Block, Blocks, NONE, State};
use super::counts::{Exercised, Totals};
use super::driver::Driver;
use super::operation::{Kind, Operation};
use super::pool::{Pool, Traits};
use super::recording::Place;
use super::rounding::{is_rounded_up, rounded, segment};
use super::settings::{Backend, BlockOrder, Limits, SMALL, Settings};
use base::sorted::sorted_by_key;
use std::collections::BTreeSet;

/// Maximum request in bytes. Larger requests run out of memory, since no device has that much.
const LARGEST: u64 = 1 << 44;

/// Reserved address range of an expandable segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) base: u64,
    pub(crate) page: u64,
}

/// Simulated caching allocator of one device.
#[derive(Clone, Debug)]
pub struct Allocator {
    pub(crate) settings: Settings,
    pub(crate) backend: Backend,
    pub(crate) limits: Limits,
    pub(crate) blocks: Blocks,
    /// Pools of small and of large blocks: two for each pool id.
    pub(crate) pools: Vec<Pool>,
    /// Known properties of pools, by pool id.
    pub(crate) traits: Vec<Traits>,
    /// Age number of the newest segment or block, see [`BlockOrder`].
    pub(crate) numbers: u64,
    /// Number of segments that exist before the first event. They have the lowest age numbers.
    pub(crate) start_segments: u64,
    /// True if a request in a private pool releases cached memory and retries before it fails.
    pub(crate) retries_private: bool,
    /// Number of blocks that are awaiting free.
    pub(crate) awaiting: u64,
    /// Total number of deferred frees.
    pub(crate) deferred: u64,
    /// Blocks whose deferred free completes if the current request waits for the device. `None` if all complete.
    pub(crate) waited: Option<Vec<u32>>,
    /// Indices of allocations whose deferred free was completed by the allocator. The caller drains the list.
    pub(crate) completed: Vec<u32>,
    pub(crate) ranges: Vec<Range>,
    /// Pools and streams that have had an address range.
    pub(crate) range_owners: BTreeSet<(u32, u32)>,
    /// True if a stream has had more than one address range in a pool.
    pub(crate) has_rival_ranges: bool,
    pub(crate) driver: Driver,
    /// Running totals.
    pub totals: Totals,
    pub exercised: Exercised,
    /// Log of segment operations. `None` if they are not logged.
    pub(crate) log: Option<Vec<Operation>>,
    /// Stream and pool of each logged operation.
    pub(crate) log_places: Vec<Place>,
}

impl Allocator {
    pub(crate) fn new(settings: Settings, backend: Backend, limits: Limits, driver: Driver) -> Allocator {
        let (blocks, pools, traits, numbers, start_segments, awaiting, deferred, completed) = Default::default();
        let (ranges, log_places, totals, exercised) = Default::default();
        Allocator {
            settings,
            backend,
            limits,
            blocks,
            pools,
            traits,
            numbers,
            start_segments,
            retries_private: false,
            awaiting,
            deferred,
            waited: None,
            completed,
            ranges,
            range_owners: BTreeSet::new(),
            has_rival_ranges: false,
            driver,
            totals,
            exercised,
            log: None,
            log_places,
        }
    }

    /// Returns the index, in `pools`, of the small or large pool with this id.
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

    /// Returns true if garbage collection is enabled and has a limit to apply to.
    pub(crate) fn collects(&self) -> bool {
        self.settings.collects() && self.limits.collect_above.is_some()
    }

    /// Allocates a block for a request and returns its id, or `None` if out of memory.
    pub fn allocate(&mut self, requested: u64, place: Place, allocation: u32) -> Option<u32> {
        self.request(requested, place, allocation, false)
    }

    /// Same as [`allocate`](Allocator::allocate). `misses` is true if the request is known to find no free block at
    /// first.
    #[inline(never)]
    pub(crate) fn request(&mut self, requested: u64, place: Place, allocation: u32, misses: bool) -> Option<u32> {
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
        if self.collects() {
            self.pool_at(pool).searches += 1;
        }
        let found = if misses { None } else { self.find(pool, size, place.stream) };
        let found = match found {
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

    /// Creates a block in newly reserved memory. If out of memory, releases cached memory and retries.
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
        if pool > 1 && !self.retries_private {
            return None;
        }
        self.release_cached();
        self.driver.gave_everything();
        self.totals.retries += 1;
        self.exercised.retries += 1;
        self.grow(pool, size, stream)
    }

    /// Returns true if no decision so far depended on the addresses of segments, given that no segment existed at the
    /// start: each stream and pool had at most one, and addresses within a segment do not depend on its own.
    pub(crate) fn ignores_addresses(&self) -> bool {
        self.settings.expandable && !self.has_rival_ranges
    }

    fn grow(&mut self, pool: u32, size: u64, stream: u32) -> Option<u32> {
        let bytes = segment(&self.settings, size);
        self.driver.begin(bytes);
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
        let number = self.next_number();
        Some(self.blocks.add(Block {
            address,
            size: bytes,
            number,
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

    /// Returns true if a new segment for a block of `size` bytes would exceed the memory fraction of the process.
    fn is_beyond_limit(&self, size: u64) -> bool {
        let bytes = segment(&self.settings, size);
        self.limits.allowed.is_some_and(|allowed| self.totals.reserved.saturating_add(bytes) > allowed)
    }

    /// Returns the next unused age number.
    pub(crate) fn next_number(&mut self) -> u64 {
        if self.backend.order == BlockOrder::Address {
            return 0;
        }
        self.numbers += 1;
        self.numbers
    }

    /// Sets the age number of a new block in a segment.
    #[inline]
    pub(crate) fn renumber(&mut self, id: u32) {
        if self.backend.order == BlockOrder::Block {
            self.blocks.at_mut(id).number = self.next_number();
        }
    }

    /// Adds a segment operation to the totals and the log.
    pub(crate) fn reserve(&mut self, operation: Operation, stream: u32, pool: u32) {
        let reserved = &mut self.totals.reserved;
        *reserved = match operation.kind.grows() {
            true => reserved.saturating_add(operation.size),
            false => reserved.saturating_sub(operation.size),
        };
        self.totals.peak_reserved = self.totals.peak_reserved.max(self.totals.reserved);
        if !operation.kind.grows() {
            self.driver.given_back(operation);
        }
        if let Some(log) = &mut self.log {
            log.push(operation);
            self.log_places.push(Place { stream, pool: pool / 2 });
        }
    }

    /// Returns all blocks, including unmapped ones, ordered by address.
    pub fn blocks(&self) -> Vec<Block> {
        let blocks = self.blocks.iter().map(|(_, block)| *block).collect();
        sorted_by_key(blocks, |block: &Block| block.address.into())
    }
}

#[cfg(test)]
#[path = "../../tests/units/allocator/model.rs"]
mod tests;
