//! Expandable segments: reserved address ranges whose pages are mapped on demand and unmapped when free.

use super::blocks::{Block, NONE, State};
use super::model::{Allocator, Range};
use super::operation::{Kind, Operation, RESERVED_ADDRESSES};
use super::pool::Key;
use super::rounding::page;

impl Allocator {
    /// Maps pages until an expandable segment has a free block of `size` bytes. Returns the block's id, or `None` if
    /// out of memory.
    pub(crate) fn grow_expandable(&mut self, pool: u32, size: u64, stream: u32) -> Option<u32> {
        let mut block = match self.room(pool, size, stream) {
            Some(block) => block,
            None => self.reserve_addresses(pool, stream)?,
        };
        let at = *self.blocks.at(block);
        if at.state == State::Free && at.size >= size && self.driver.refuses_mapped(self.totals.reserved) {
            return None;
        }
        if at.state == State::Unmapped && !self.map(block, size.min(at.size)) {
            return None;
        }
        while self.blocks.at(block).size < size {
            let at = self.blocks.at(block);
            let (next, missing) = (at.next, size - at.size);
            if next == NONE || !self.map(next, missing.min(self.blocks.at(next).size)) {
                return None;
            }
            block = next;
        }
        let key = Key::of(block, self.blocks.at(block));
        self.pool_at(pool).free.remove(&key);
        Some(block)
    }

    /// Returns the first block at which at least `size` contiguous bytes are free or unmapped.
    fn room(&self, pool: u32, size: u64, stream: u32) -> Option<u32> {
        let unmapped = self.pools[pool as usize].unmapped.range(Key::from(stream, 0)..);
        for key in unmapped.take_while(|key| key.stream == stream) {
            let previous = self.blocks.at(key.block).previous;
            let first = if previous != NONE && self.blocks.at(previous).is_vacant() { previous } else { key.block };
            let (mut bytes, mut at) = (0u64, first);
            while bytes < size && at != NONE && self.blocks.at(at).is_vacant() {
                bytes = bytes.saturating_add(self.blocks.at(at).size);
                at = self.blocks.at(at).next;
            }
            if bytes >= size {
                return Some(first);
            }
        }
        None
    }

    fn reserve_addresses(&mut self, pool: u32, stream: u32) -> Option<u32> {
        let page = page(&self.settings, self.pools[pool as usize].small);
        let base = self.driver.reserve()?;
        Some(self.add_range(pool, stream, base, page))
    }

    /// Adds an address range without mapped memory. It consists of one unmapped block, whose id is returned.
    pub(crate) fn add_range(&mut self, pool: u32, stream: u32, base: u64, page: u64) -> u32 {
        self.has_rival_ranges |= !self.range_owners.insert((pool, stream));
        self.ranges.push(Range { base, page });
        let range = self.ranges.len() as u32 - 1;
        let number = self.next_number();
        let id = self.blocks.add(Block {
            address: base,
            size: range_size(base, page),
            number,
            freed_at: 0,
            stream,
            pool,
            previous: NONE,
            next: NONE,
            range,
            allocation: NONE,
            state: State::Unmapped,
        });
        self.keep_unmapped(id);
        id
    }

    /// Maps the pages that cover the first `size` bytes of an unmapped block. Returns false if not all of them can be
    /// mapped.
    fn map(&mut self, id: u32, size: u64) -> bool {
        let block = *self.blocks.at(id);
        let page = self.ranges[block.range as usize].page;
        let bytes = size.checked_next_multiple_of(page).unwrap_or(size).min(block.size);
        if block.state != State::Unmapped || !self.driver.maps(bytes, self.totals.reserved) {
            return false;
        }
        self.pool_at(block.pool).unmapped.remove(&Key::of_unmapped(id, &block));
        if bytes < block.size {
            let (address, size) = (block.address.wrapping_add(bytes), block.size - bytes);
            let rest = self.blocks.add_after(id, Block { address, size, ..block });
            self.renumber(rest);
            self.keep_unmapped(rest);
        }
        let mapped = self.blocks.at_mut(id);
        (mapped.size, mapped.state) = (bytes, State::Free);
        self.merge(id);
        self.keep_free(id);
        self.totals.maps += 1;
        self.exercised.pages += bytes / page.max(1);
        self.reserve(Operation { kind: Kind::Map, address: block.address, size: bytes }, block.stream, block.pool);
        true
    }

    /// Returns the range of pages that lie completely inside a block, as `[begin, end)` addresses.
    pub(crate) fn whole_pages(&self, block: &Block) -> Option<[u64; 2]> {
        let Range { base, page } = *self.ranges.get(block.range as usize)?;
        let end = block.address.saturating_add(block.size);
        let offset = block.address.saturating_sub(base);
        let low = base.saturating_add(offset.checked_next_multiple_of(page).unwrap_or(u64::MAX));
        let high = base.saturating_add(end.saturating_sub(base) / page * page);
        (low < high).then_some([low, high])
    }

    /// Unmaps the pages that lie completely inside a free block. The rest of the block stays mapped and free.
    pub(crate) fn unmap(&mut self, id: u32) {
        let block = *self.blocks.at(id);
        let Range { base, .. } = self.ranges[block.range as usize];
        let end = block.address.saturating_add(block.size);
        let Some([low, high]) = self.whole_pages(&block) else { return };
        self.pool_at(block.pool).free.remove(&Key::of(id, &block));
        if low > block.address {
            let front = self.blocks.add_before(id, Block { size: low - block.address, ..block });
            self.renumber(front);
            self.keep_free(front);
        }
        if end > high {
            let behind = self.blocks.add_after(id, Block { address: high, size: end - high, ..block });
            self.renumber(behind);
            self.keep_free(behind);
        }
        let unmapped = self.blocks.at_mut(id);
        (unmapped.address, unmapped.size, unmapped.state) = (low, high - low, State::Unmapped);
        self.merge(id);
        self.totals.unmaps += 1;
        self.reserve(Operation { kind: Kind::Unmap, address: low, size: high - low }, block.stream, block.pool);
        if self.blocks.at(id).is_whole() {
            // Nothing of the range is mapped any more, so its addresses are given back too.
            self.blocks.remove(id);
            self.driver.gave_range_back(base);
        } else {
            self.keep_unmapped(id);
        }
    }

    pub(crate) fn keep_unmapped(&mut self, id: u32) {
        let block = self.blocks.at(id);
        self.pools[block.pool as usize].unmapped.insert(Key::of_unmapped(id, block));
    }
}

/// Returns the size of an address range that starts at `base`. It is a multiple of the page size and ends within the
/// address space.
pub(crate) fn range_size(base: u64, page: u64) -> u64 {
    RESERVED_ADDRESSES.min(u64::MAX - base) / page * page
}
