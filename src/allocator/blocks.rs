//! Blocks of memory, linked to their neighbours in a segment. The ids of removed blocks are reused.

/// Sentinel index for an absent block, address range or allocation.
pub const NONE: u32 = u32::MAX;

/// State of a block of memory.
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

/// A block of a segment, allocated or free.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub address: u64,
    pub size: u64,
    /// Age number of the block or of its segment, see [`BlockOrder`](crate::BlockOrder). 0 if PyTorch orders blocks by
    /// address.
    pub(crate) number: u64,
    /// For a free block, the number of searches in its pool before it was freed. For a block that is awaiting free, the
    /// number of frees deferred before its own.
    pub(crate) freed_at: u64,
    /// Index of the stream, ordered by handle, see [`Place`](crate::recording::Place).
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
    /// Returns true if the block has no allocation, i.e. if it is free or unmapped.
    pub(crate) fn is_vacant(&self) -> bool {
        matches!(self.state, State::Free | State::Unmapped)
    }

    /// Returns true if the block is part of an expandable segment.
    pub fn is_expandable(&self) -> bool {
        self.range != NONE
    }

    /// Returns true if the block is the only one in its segment.
    pub(crate) fn is_whole(&self) -> bool {
        self.previous == NONE && self.next == NONE
    }
}

/// All blocks, by id. The ids of removed blocks are reused.
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

    /// Inserts `block` in front of the block `id` in its segment, and returns the new block's id.
    pub(crate) fn add_before(&mut self, id: u32, block: Block) -> u32 {
        let previous = self.at(id).previous;
        let new = self.add(Block { previous, next: id, ..block });
        self.at_mut(id).previous = new;
        if previous != NONE {
            self.at_mut(previous).next = new;
        }
        new
    }

    /// Inserts `block` behind the block `id` in its segment, and returns the new block's id.
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
