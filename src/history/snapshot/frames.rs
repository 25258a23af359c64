//! Interned stack frames.

use super::strings::StringId;
use base::heap::HeapBytes;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Index of a frame in the snapshot's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(pub u32);

/// Stack frame: a location in code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    pub name: StringId,
    /// File name. Empty or `??` for C++ frames.
    pub filename: StringId,
    /// Line number. Real files contain 0xffffffffffffffff, which does not fit into `i64`.
    pub line: i128,
    /// FX fields (since PyTorch 2.10), as pairs of key and text. Usually empty.
    pub fx: Box<[(StringId, StringId)]>,
}

/// Distinct frames of a snapshot. The largest files have a few thousand.
#[derive(Default)]
pub struct Frames {
    frames: Vec<Frame>,
    ids: HashTable<u32>,
    hasher: RandomState,
}

impl Frames {
    /// Returns the id of `frame`, which is added if it is new. Returns `None` if the table is full, with 2^32 − 1
    /// frames.
    pub fn intern(&mut self, frame: Frame) -> Option<FrameId> {
        let hash = self.hasher.hash_one(&frame);
        let Frames { frames, ids, hasher } = self;
        if let Some(&id) = ids.find(hash, |&id| frames.get(id as usize) == Some(&frame)) {
            return Some(FrameId(id));
        }
        let id = u32::try_from(frames.len()).ok().filter(|&id| id < u32::MAX)?;
        frames.push(frame);
        ids.insert_unique(hash, id, |&id| frames.get(id as usize).map_or(0, |frame| hasher.hash_one(frame)));
        Some(FrameId(id))
    }

    /// Adds a frame even if the table has an equal one, so that ids are the row numbers of a file. Returns `None` if
    /// the table is full.
    pub fn push(&mut self, frame: Frame) -> Option<FrameId> {
        let id = u32::try_from(self.frames.len()).ok().filter(|&id| id < u32::MAX)?;
        self.frames.push(frame);
        Some(FrameId(id))
    }

    /// Creates a table with these rows. Equal rows are not merged, and frames added later are.
    pub(super) fn from_rows(frames: Vec<Frame>) -> Frames {
        Frames { frames, ..Frames::default() }
    }

    /// Returns the frame with this id.
    ///
    /// # Panics
    /// If the id belongs to another snapshot.
    pub fn frame(&self, id: FrameId) -> &Frame {
        &self.frames[id.0 as usize]
    }

    pub fn len(&self) -> usize {
        self.frames.len()
    }

    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    pub fn heap_bytes(&self) -> usize {
        let fx: usize = self.frames.iter().map(|frame| size_of_val(&*frame.fx)).sum();
        self.frames.heap_bytes() + fx + self.ids.heap_bytes()
    }
}
