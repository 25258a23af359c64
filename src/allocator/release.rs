//! Release of cached memory: `empty_cache()`, releases before a retry, and garbage collection.

use super::driver::{Kind, Operation};
use super::model::Allocator;
use super::pool::Key;

impl Allocator {
    /// Releases all cached memory of the default pool and of private pools without users, after completing all deferred
    /// frees. `empty_cache()` does this, and a request before it fails (PyTorch's `release_cached_blocks`).
    pub fn release_cached(&mut self) {
        self.complete_frees(None);
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

    /// Releases the cached memory of a private pool if it has no users. This happens when a `MemPool` is destroyed.
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

    /// Marks a private pool as unused: its CUDA graphs or its `MemPool` are gone.
    pub(crate) fn retire(&mut self, id: u32) {
        self.set_unused(id, true);
    }

    /// Marks a private pool as used, because it has a request.
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

    fn drop_segment(&mut self, key: Key) {
        let pool = self.blocks.at(key.block).pool;
        self.pool_at(pool).free.remove(&key);
        self.blocks.remove(key.block);
        self.totals.segment_frees += 1;
        self.reserve(Operation { kind: Kind::Free, address: key.address, size: key.size }, key.stream, pool);
    }

    /// Returns true if a free block fills a non-expandable segment.
    fn is_segment(&self, key: &Key) -> bool {
        let block = self.blocks.at(key.block);
        block.is_whole() && !block.is_expandable()
    }

    /// Releases one block that is large enough, or else the largest ones until `size` bytes are released. Does nothing
    /// without `max_split_size`. Returns true if enough was released (PyTorch's `release_available_cached_blocks`).
    pub(crate) fn release_available(&mut self, pool: u32, size: u64, stream: u32) -> bool {
        let Some(most) = self.settings.max_split else { return false };
        let wanted = size.max(most);
        let free = &self.pools[pool as usize].free;
        let above = free.range(Key::from(stream, wanted)..).next().copied().filter(|key| key.stream == stream);
        if let Some(key) = above.filter(|key| self.is_segment(key)) {
            self.drop_segment(key);
            return true;
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
        chosen.into_iter().for_each(|key| self.drop_segment(key));
        gone >= wanted
    }

    /// Releases segments that have been free for longer than average until reserved memory is below the threshold
    /// (PyTorch's `garbage_collect_cached_blocks`).
    pub(crate) fn collect_garbage(&mut self) {
        let Some(allowed) = self.limits.allowed else { return };
        let threshold = self.settings.collect_above.of(allowed);
        if self.totals.reserved <= threshold {
            return;
        }
        let pool = self.pool(0, false);
        let target = self.totals.reserved - threshold;
        let searches = self.pools[pool as usize].searches;
        let age = |allocator: &Allocator, key: &Key| searches - allocator.blocks.at(key.block).freed_at;
        let free = self.pools[pool as usize].free.iter().copied();
        let mut whole: Vec<Key> = free.filter(|key| self.blocks.at(key.block).is_whole()).collect();
        let mut ages: u64 = whole.iter().map(|key| age(self, key)).sum();
        let (mut count, mut gone) = (whole.len() as u64, 0);
        while gone < target && count > 0 {
            let average = ages as f64 / count as f64;
            let before = whole.len();
            whole.retain(|key| {
                let its_age = age(self, key);
                if !self.is_segment(key) || (its_age as f64) < average {
                    return true;
                }
                gone = key.size.saturating_add(gone);
                ages -= its_age;
                count -= 1;
                self.drop_segment(*key);
                false
            });
            if whole.len() == before {
                return;
            }
            self.exercised.collections += 1;
        }
    }
}
