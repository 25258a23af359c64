//! Freeing of blocks. A freed block is merged with its free neighbours. A free may have to wait for another stream.

use super::blocks::{Block, NONE, State};
use super::model::Allocator;
use super::pool::Key;
use base::sorted::sorted_numbers;

impl Allocator {
    /// Marks a block as awaiting free, because another stream still uses it.
    pub fn request_free(&mut self, id: u32) {
        let block = self.blocks.at_mut(id);
        if block.state == State::Live {
            block.state = State::AwaitingFree;
            block.freed_at = self.deferred;
            self.awaiting += 1;
            self.deferred += 1;
        }
    }

    /// Waits for the device. Completes the pending frees: all, or only those that completed in the recording.
    pub(crate) fn wait(&mut self) {
        match self.waited.as_mut().map(std::mem::take) {
            None => self.complete_frees(None),
            Some(blocks) => {
                for id in blocks {
                    self.free(id);
                    self.exercised.completed += 1;
                }
            }
        }
    }

    /// Completes the frees of all blocks that are awaiting free, or only those in the pool with this id.
    pub(crate) fn complete_frees(&mut self, id: Option<u32>) {
        if self.awaiting == 0 {
            return;
        }
        let awaiting = self.blocks.iter().filter(|(_, block)| block.state == State::AwaitingFree);
        let of_pool = awaiting.filter(|(_, block)| id.is_none_or(|id| block.pool / 2 == id));
        let blocks = of_pool.map(|(at, block)| (u128::from(block.freed_at), at)).collect();
        for at in sorted_numbers(blocks) {
            let Block { allocation, .. } = *self.blocks.at(at);
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

    /// Merges a block with neighbours in the same state. The block must not be in a pool's set of free blocks.
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

    /// Adds a free block to its pool's set of free blocks.
    pub(crate) fn keep_free(&mut self, id: u32) {
        let block = self.blocks.at_mut(id);
        let pool = &mut self.pools[block.pool as usize];
        block.freed_at = pool.searches;
        pool.free.insert(Key::of(id, block));
    }
}
