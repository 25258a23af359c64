//! Release of cached memory by `empty_cache()`, before a retry, and by garbage collection.

use super::model::Allocator;
use super::operation::{Kind, Operation};
use super::pool::Key;

impl Allocator {
    /// Completes all deferred frees, then releases all cached memory of the default pool and of private pools without
    /// users (PyTorch's `release_cached_blocks`). Called by `empty_cache()`, and before a request fails.
    pub fn release_cached(&mut self) {
        self.wait();
        // Large blocks first.
        for pool in [1, 0] {
            if pool < self.pools.len() {
                self.release_pool(pool as u32);
            }
        }
        for id in 1..self.pools.len().div_ceil(2) as u32 {
            self.release_private(id);
        }
    }

    /// Releases the cached memory of a private pool that has no users. This happens when a `MemPool` is destroyed.
    pub(crate) fn release_private(&mut self, id: u32) {
        // Small blocks first.
        for pool in [2 * id, 2 * id + 1] {
            if self.pools.get(pool as usize).is_some_and(|pool| pool.unused) {
                let before = self.totals.reserved;
                self.release_pool(pool);
                self.exercised.retired += u64::from(self.totals.reserved < before);
            }
        }
    }

    /// Marks a private pool as unused, since its CUDA graphs or its `MemPool` no longer exist.
    pub(crate) fn retire(&mut self, id: u32) {
        self.set_unused(id, true);
    }

    /// Marks a private pool as used, since it has received a request.
    pub(crate) fn use_again(&mut self, id: u32) {
        self.set_unused(id, false);
    }

    fn set_unused(&mut self, id: u32, unused: bool) {
        for at in [2 * id as usize, 2 * id as usize + 1] {
            self.pools.get_mut(at).into_iter().for_each(|pool| pool.unused = unused && pool.private);
        }
    }

    fn release_pool(&mut self, pool: u32) {
        let keys: Vec<Key> = self.pools[pool as usize].free.iter().copied().collect();
        let mut expandable = Vec::new();
        for key in keys {
            if self.is_segment(&key) {
                self.drop_segment(key);
            } else if self.blocks.at(key.block).is_expandable() {
                expandable.push(key.block);
            }
        }
        self.exercised.releases += 1;
        expandable.into_iter().for_each(|block| self.unmap(block));
    }

    /// Returns the segment operations that would release all cached memory, in no particular order.
    pub(crate) fn cached_operations(&self) -> Vec<Operation> {
        let pools = self.pools.iter().filter(|pool| !pool.private || pool.unused);
        let operation = |key: &Key| {
            let block = self.blocks.at(key.block);
            let Key { address, size, .. } = *key;
            if self.is_segment(key) {
                return Some(Operation { kind: Kind::Free, address, size });
            }
            let [low, high] = self.whole_pages(block)?;
            Some(Operation { kind: Kind::Unmap, address: low, size: high - low })
        };
        pools.flat_map(|pool| &pool.free).filter_map(operation).collect()
    }

    fn drop_segment(&mut self, key: Key) {
        let pool = self.blocks.at(key.block).pool;
        self.pool_at(pool).free.remove(&key);
        self.blocks.remove(key.block);
        self.totals.segment_frees += 1;
        self.reserve(Operation { kind: Kind::Free, address: key.address, size: key.size }, key.stream, pool);
    }

    /// Returns true if a free block fills an entire segment that is not expandable.
    fn is_segment(&self, key: &Key) -> bool {
        let block = self.blocks.at(key.block);
        block.is_whole() && !block.is_expandable()
    }

    /// Returns the segments that are released before a retry under `max_split_size`: one that is large enough, or else
    /// the largest ones until their total is `size` bytes. The flag is true if they are enough.
    pub(crate) fn available(&self, pool: u32, size: u64, stream: u32) -> (Vec<Key>, bool) {
        let Some(most) = self.settings.max_split else { return (Vec::new(), false) };
        let wanted = size.max(most);
        let free = &self.pools[pool as usize].free;
        let above = free.range(Key::from(stream, wanted)..).next().copied().filter(|key| key.stream == stream);
        if let Some(key) = above.filter(|key| self.is_segment(key)) {
            return (vec![key], true);
        }
        let below = free.range(Key::from(stream, most)..Key::from(stream, wanted)).rev();
        let (mut gone, mut chosen) = (0, Vec::new());
        for key in below.filter(|key| self.is_segment(key)) {
            if gone >= wanted {
                break;
            }
            gone = key.size.saturating_add(gone);
            chosen.push(*key);
        }
        (chosen, gone >= wanted)
    }

    /// Releases the [available](Allocator::available) segments. Returns true if enough was released (PyTorch's
    /// `release_available_cached_blocks`).
    pub(crate) fn release_available(&mut self, pool: u32, size: u64, stream: u32) -> bool {
        let (chosen, is_enough) = self.available(pool, size, stream);
        if chosen.is_empty() || !self.driver.agrees(segments(&chosen)) {
            return false;
        }
        chosen.into_iter().for_each(|key| self.drop_segment(key));
        is_enough
    }

    /// Returns the segments that garbage collection would release first, after `searches_to_come` more searches of the
    /// pool.
    pub(crate) fn garbage(&mut self, searches_to_come: u64) -> Vec<Key> {
        Garbage::new(self, searches_to_come).take_oldest(self)
    }

    /// Releases segments that have been free for longer than average until reserved memory is below the threshold
    /// (PyTorch's `garbage_collect_cached_blocks`).
    pub(crate) fn collect_garbage(&mut self) {
        let Some(threshold) = self.limits.collect_above else { return };
        let reserved = self.totals.reserved;
        let is_scripted = self.driver.attempts().is_some();
        if !is_scripted && reserved <= threshold {
            return;
        }
        let target = reserved.saturating_sub(threshold);
        let mut garbage = Garbage::new(self, 0);
        let mut gone = 0;
        while is_scripted || gone < target {
            let oldest = garbage.take_oldest(self);
            if oldest.is_empty() {
                return;
            }
            let left = reserved.saturating_sub(gone);
            if !self.driver.agrees(segments(&oldest)) {
                self.driver.attempts().into_iter().for_each(|attempts| attempts.not_collected(left));
                return;
            }
            self.driver.attempts().into_iter().for_each(|attempts| attempts.collected(left));
            for key in oldest {
                gone = key.size.saturating_add(gone);
                self.drop_segment(key);
            }
            self.exercised.collections += 1;
        }
    }
}

/// Candidates for garbage collection: free blocks of the default pool of large blocks that fill their segments.
struct Garbage {
    whole: Vec<Key>,
    searches: u64,
    ages: u64,
}

impl Garbage {
    fn new(allocator: &mut Allocator, searches_to_come: u64) -> Garbage {
        let pool = allocator.pool(0, false);
        let pool = &allocator.pools[pool as usize];
        let whole: Vec<Key> =
            pool.free.iter().copied().filter(|key| allocator.blocks.at(key.block).is_whole()).collect();
        let mut garbage = Garbage { whole, searches: pool.searches.saturating_add(searches_to_come), ages: 0 };
        garbage.ages = garbage.whole.iter().map(|key| garbage.age(allocator, key)).fold(0, u64::saturating_add);
        garbage
    }

    fn age(&self, allocator: &Allocator, key: &Key) -> u64 {
        self.searches.saturating_sub(allocator.blocks.at(key.block).freed_at)
    }

    /// Removes and returns the segments whose age is at least the average.
    fn take_oldest(&mut self, allocator: &Allocator) -> Vec<Key> {
        let average = self.ages as f64 / self.whole.len() as f64;
        let is_old = |key: &Key| allocator.is_segment(key) && self.age(allocator, key) as f64 >= average;
        let (oldest, rest): (Vec<Key>, Vec<Key>) = self.whole.iter().partition(|key| is_old(key));
        let ages = oldest.iter().map(|key| self.age(allocator, key)).fold(0, u64::saturating_add);
        self.ages = self.ages.saturating_sub(ages);
        self.whole = rest;
        oldest
    }
}

/// Returns the address and size of each segment.
pub(crate) fn segments(keys: &[Key]) -> impl Iterator<Item = (u64, u64)> {
    keys.iter().map(|key| (key.address, key.size))
}
