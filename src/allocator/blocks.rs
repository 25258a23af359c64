//! Blocks, linked to their neighbours in a segment: a table with rows that are used again.

/// No block, no range.
pub const NONE: u32 = u32::MAX;

/// What a block is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Free,
    /// Of an expandable segment, without memory behind it.
    Unmapped,
    Live,
    /// Freed by the program; another stream still uses it.
    AwaitingFree,
}

/// A block.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub address: u64,
    pub size: u64,
    /// While it is free: how often its pool had been searched when it was freed.
    pub(crate) freed_at: u64,
    /// Rank of its stream.
    pub stream: u32,
    /// Its pool.
    pub(crate) pool: u32,
    pub(crate) previous: u32,
    pub(crate) next: u32,
    /// Its range of reserved addresses, if it is of an expandable segment.
    pub(crate) range: u32,
    /// The allocation in it.
    pub allocation: u32,
    pub state: State,
}

impl Block {
    /// Whether its bytes are in no allocation; there may be no memory behind them.
    pub(crate) fn is_vacant(&self) -> bool {
        matches!(self.state, State::Free | State::Unmapped)
    }

    /// Whether it is of an expandable segment.
    pub fn is_expandable(&self) -> bool {
        self.range != NONE
    }

    /// Whether it is all of its segment.
    pub(crate) fn is_whole(&self) -> bool {
        self.previous == NONE && self.next == NONE
    }
}

/// All blocks. Ids are those it gave out, of blocks that were not removed.
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

    /// The blocks that there are, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Block)> {
        (0..).zip(&self.rows).filter(|(_, block)| block.pool != NONE)
    }

    /// Adds a block in front of another.
    pub(crate) fn add_before(&mut self, id: u32, block: Block) -> u32 {
        let previous = self.at(id).previous;
        let new = self.add(Block { previous, next: id, ..block });
        self.at_mut(id).previous = new;
        if previous != NONE {
            self.at_mut(previous).next = new;
        }
        new
    }

    /// Adds a block behind another.
    pub(crate) fn add_after(&mut self, id: u32, block: Block) -> u32 {
        let next = self.at(id).next;
        let new = self.add(Block { previous: id, next, ..block });
        self.at_mut(id).next = new;
        if next != NONE {
            self.at_mut(next).previous = new;
        }
        new
    }

    /// Adds the bytes of a neighbour to a block; the neighbour is gone.
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
