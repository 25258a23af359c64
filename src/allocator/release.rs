//! Giving back: `empty_cache()`, what a failed request gives back before it is tried again, and garbage collection.

use super::driver::{Kind, Operation};
use super::model::Allocator;
use super::pool::Key;

impl Allocator {
    /// Gives back everything cached in the default pool and in private pools without users: what `empty_cache()` does, and a request
    /// before it fails. Before that, all that awaits its free is waited for.
    pub fn release_cached(&mut self) {
        self.complete_frees(None);
        // Large ones first.
        for pool in [1, 0] {
            if pool < self.pools.len() {
                self.release_pool(pool as u32);
            }
        }
        for id in 1..self.pools.len().div_ceil(2) as u32 {
            self.release_private(id);
        }
    }

    /// Gives back what is cached in a private pool, if it has no users: what the end of a `MemPool` does.
    pub(crate) fn release_private(&mut self, id: u32) {
        // Small ones first.
        for pool in [2 * id, 2 * id + 1] {
            if self.pools.get(pool as usize).is_some_and(|pool| pool.unused) {
                let before = self.totals.reserved;
                self.release_pool(pool);
                self.exercised.retired += u64::from(self.totals.reserved < before);
            }
        }
    }

    /// The last user of a private pool is gone: its CUDA graphs, or the `MemPool`.
    pub(crate) fn retire(&mut self, id: u32) {
        self.set_unused(id, true);
    }

    /// A private pool has a request.
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

    /// Whether a free block is all of a segment of fixed size.
    fn is_segment(&self, key: &Key) -> bool {
        let block = self.blocks.at(key.block);
        block.is_whole() && !block.is_expandable()
    }

    /// With `max_split_size`: gives back one block that is large enough, or the largest ones until that many bytes are gone. Whether they
    /// are.
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

    /// Gives back segments that have been free for longer than the average, until reserved memory is below the threshold.
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
