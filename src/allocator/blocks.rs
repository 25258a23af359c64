//! Blocks of memory, linked to their neighbours in a segment. Rows of removed blocks are reused.

/// Sentinel: no block, no range or no allocation.
pub const NONE: u32 = u32::MAX;

/// State of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Free,
    /// Unmapped part of an expandable segment.
    Unmapped,
    Live,
    /// Freed by the program, but still in use by another stream.
    AwaitingFree,
}

/// A block of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub address: u64,
    pub size: u64,
    /// Age number of the segment or of the block, see [`BlockOrder`](crate::BlockOrder). 0 if blocks are ordered by
    /// address.
    pub(crate) number: u64,
    /// Value of its pool's `searches` when the block was freed. While the block awaits its free: the number of
    /// deferred frees before it.
    pub(crate) freed_at: u64,
    /// Rank of the stream, see [`Place`](crate::recording::Place).
    pub stream: u32,
    /// Index of the pool in `Allocator::pools`.
    pub(crate) pool: u32,
    pub(crate) previous: u32,
    pub(crate) next: u32,
    /// Index of the address range in `Allocator::ranges`. [`NONE`] if the block is not in an expandable segment.
    pub(crate) range: u32,
    /// Index of the allocation in the block, or [`NONE`].
    pub allocation: u32,
    pub state: State,
}

impl Block {
    /// Returns true if the block has no allocation. It may be unmapped.
    pub(crate) fn is_vacant(&self) -> bool {
        matches!(self.state, State::Free | State::Unmapped)
    }

    /// Returns true if the block is part of an expandable segment.
    pub fn is_expandable(&self) -> bool {
        self.range != NONE
    }

    /// Returns true if the block fills its whole segment.
    pub(crate) fn is_whole(&self) -> bool {
        self.previous == NONE && self.next == NONE
    }
}

/// All blocks by id. Ids of removed blocks are reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    rows: Vec<Block>,
    vacant: Vec<u32>,
}

impl Blocks {
    pub(crate) fn add(&mut self, block: Block) -> u32 {
        match self.vacant.pop() {
            Some(id) => {
                *self.at_mut(id) = block;
                id
            }
            None => {
                self.rows.push(block);
                self.rows.len() as u32 - 1
            }
        }
    }

    pub(crate) fn remove(&mut self, id: u32) {
        self.at_mut(id).pool = NONE;
        self.vacant.push(id);
    }

    #[inline(always)]
    pub(crate) fn at(&self, id: u32) -> &Block {
        &self.rows[id as usize]
    }

    #[inline(always)]
    pub(crate) fn at_mut(&mut self, id: u32) -> &mut Block {
        &mut self.rows[id as usize]
    }

    /// Iterates over all blocks in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Block)> {
        (0..).zip(&self.rows).filter(|(_, block)| block.pool != NONE)
    }

    /// Inserts `block` before block `id` and returns its id.
    pub(crate) fn add_before(&mut self, id: u32, block: Block) -> u32 {
        let previous = self.at(id).previous;
        let new = self.add(Block { previous, next: id, ..block });
        self.at_mut(id).previous = new;
        if previous != NONE {
            self.at_mut(previous).next = new;
        }
        new
    }

    /// Inserts `block` after block `id` and returns its id.
    pub(crate) fn add_after(&mut self, id: u32, block: Block) -> u32 {
        let next = self.at(id).next;
        let new = self.add(Block { previous: id, next, ..block });
        self.at_mut(id).next = new;
        if next != NONE {
            self.at_mut(next).previous = new;
        }
        new
    }

    /// Merges `neighbour` into block `id` and removes the neighbour.
    pub(crate) fn absorb(&mut self, id: u32, neighbour: u32) {
        let other = *self.at(neighbour);
        let block = self.at_mut(id);
        block.size = block.size.saturating_add(other.size);
        if block.previous == neighbour {
            block.address = other.address;
            block.previous = other.previous;
            if other.previous != NONE {
                self.at_mut(other.previous).next = id;
            }
        } else {
            block.next = other.next;
            if other.next != NONE {
                self.at_mut(other.next).previous = id;
            }
        }
        self.remove(neighbour);
    }
}
