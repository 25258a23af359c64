//! A pool: what is free, by stream, size and address, and what is reserved but unmapped, by stream and address.

use super::blocks::Block;
use std::collections::BTreeSet;

/// A block in the order of its pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) stream: u32,
    /// 0 of what is unmapped: addresses alone order it.
    pub(crate) size: u64,
    pub(crate) address: u64,
    pub(crate) block: u32,
}

impl Key {
    /// Where blocks of this stream and size begin.
    pub(crate) fn from(stream: u32, size: u64) -> Key {
        Key { stream, size, address: 0, block: 0 }
    }

    pub(crate) fn of(id: u32, block: &Block) -> Key {
        Key { stream: block.stream, size: block.size, address: block.address, block: id }
    }

    pub(crate) fn of_unmapped(id: u32, block: &Block) -> Key {
        Key { size: 0, ..Key::of(id, block) }
    }
}

/// What is known of a pool id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traits {
    /// It is of a CUDA graph: while it is captured, a request gives nothing back before it fails.
    pub(crate) captures: bool,
    /// `MemPool(no_split=True)`: a block is never split. PyTorch of 2026.
    pub(crate) no_split: bool,
}

/// A pool.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    pub(crate) small: bool,
    /// Whether it is of a CUDA graph or a `MemPool`: what is cached there, `empty_cache` leaves as long as there are users.
    pub(crate) private: bool,
    /// A private pool whose last user is gone.
    pub(crate) unused: bool,
    pub(crate) traits: Traits,
    pub(crate) free: BTreeSet<Key>,
    pub(crate) unmapped: BTreeSet<Key>,
    /// How often it was searched, while garbage is collected.
    pub(crate) searches: u64,
}

impl Pool {
    pub(crate) fn new(small: bool, private: bool, traits: Traits) -> Pool {
        let (unused, free, unmapped, searches) = Default::default();
        Pool { small, private, unused, traits, free, unmapped, searches }
    }
}
