//! Pools of blocks. Free blocks are ordered by stream, size, age number and address, unmapped ones by stream and
//! address.

use super::blocks::Block;
use std::collections::BTreeSet;

/// Sort key of a block in its pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) stream: u32,
    /// Size in bytes. 0 for unmapped blocks, which are ordered by address alone.
    pub(crate) size: u64,
    /// Age number of the block or its segment. 0 if blocks of equal size are ordered by address.
    pub(crate) number: u64,
    pub(crate) address: u64,
    pub(crate) block: u32,
}

impl Key {
    /// Returns the lowest possible key with this stream and size.
    pub(crate) fn from(stream: u32, size: u64) -> Key {
        Key { stream, size, number: 0, address: 0, block: 0 }
    }

    pub(crate) fn of(id: u32, block: &Block) -> Key {
        let Block { stream, size, number, address, .. } = *block;
        Key { stream, size, number, address, block: id }
    }

    pub(crate) fn of_unmapped(id: u32, block: &Block) -> Key {
        Key { size: 0, number: 0, ..Key::of(id, block) }
    }
}

/// Properties of a pool that the recording reveals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traits {
    /// True for `MemPool(no_split=True)`, whose blocks are never split. Added to PyTorch in 2026.
    pub(crate) no_split: bool,
}

/// Pool of small or large blocks: its free and unmapped blocks.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    pub(crate) small: bool,
    /// True for the pool of a CUDA graph or a `MemPool`. `empty_cache` skips it while it has users.
    pub(crate) private: bool,
    /// True for a private pool whose CUDA graphs or `MemPool` no longer exist.
    pub(crate) unused: bool,
    pub(crate) traits: Traits,
    pub(crate) free: BTreeSet<Key>,
    pub(crate) unmapped: BTreeSet<Key>,
    /// Number of searches for a free block, counted if garbage collection is enabled.
    pub(crate) searches: u64,
}

impl Pool {
    pub(crate) fn new(small: bool, private: bool, traits: Traits) -> Pool {
        let (unused, free, unmapped, searches) = Default::default();
        Pool { small, private, unused, traits, free, unmapped, searches }
    }
}
