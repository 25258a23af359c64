//! Selection of a free block for a request, and splitting of the block.

use super::blocks::{Block, Blocks, NONE, State};
use super::counts::Exercised;
use super::model::Allocator;
use super::pool::{Key, Pool};
use super::settings::{Backend, GRAIN, SMALL, SMALL_SEGMENT, Settings};

impl Allocator {
    /// Finds the best free block for a request and removes it from its pool (PyTorch's `get_free_block`).
    pub(crate) fn find(&mut self, pool: u32, size: u64, stream: u32) -> Option<u32> {
        let Allocator { settings, blocks, pools, exercised, .. } = self;
        let pool = &mut pools[pool as usize];
        let best = best_free_block(settings, blocks, pool, size, stream, exercised)?;
        pool.free.remove(&best);
        Some(best.block)
    }

    /// Returns the free block that a request would get, without removing it.
    pub(crate) fn peek(&self, pool: u32, size: u64, stream: u32) -> Option<Key> {
        let pool = self.pools.get(pool as usize)?;
        best_free_block(&self.settings, &self.blocks, pool, size, stream, &mut Exercised::default())
    }

    /// Aligns a large block in an expandable segment, as torch_npu does. The part before the aligned address stays
    /// free.
    pub(crate) fn align(&mut self, id: u32, size: u64) -> u32 {
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

    /// Splits a block after `size` bytes if the remainder is large enough (PyTorch's `should_split`). Returns the first
    /// part, and keeps the remainder free.
    pub(crate) fn split(&mut self, id: u32, size: u64) -> u32 {
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
        self.renumber(front);
        let behind = self.blocks.at_mut(id);
        behind.address = behind.address.wrapping_add(size);
        behind.size = rest;
        self.keep_free(id);
        front
    }
}

/// Returns the best free block of a pool, like PyTorch's `get_free_block`, and counts the rules that affected the
/// choice.
#[inline(always)]
fn best_free_block(
    settings: &Settings,
    blocks: &Blocks,
    pool: &Pool,
    size: u64,
    stream: u32,
    exercised: &mut Exercised,
) -> Option<Key> {
    let from = Key::from(stream, size);
    let mut next = pool.free.range(from..).take_while(|key| key.stream == stream).copied();
    let mut best = next.next()?;
    let mut block = blocks.at(best.block);
    let mut other = next.next();
    exercised.choices += u64::from(other.is_some());
    if block.is_expandable() && settings.expandable {
        let reach = |block: &Block| {
            let behind = Some(block.next).filter(|next| *next != NONE).map(|next| blocks.at(next));
            block
                .size
                .saturating_add(behind.filter(|behind| behind.state == State::Unmapped).map_or(0, |behind| behind.size))
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
    Some(best)
}
