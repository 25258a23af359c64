//! Frames: the places in code that stacks are made of. Every distinct one stands once.

use super::strings::StringId;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// A frame of one snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(pub u32);

/// A place in code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    pub name: StringId,
    /// The file; empty or `??` for C++ frames.
    pub filename: StringId,
    /// The line. Real files hold 0xffffffffffffffff, so 64 signed bits are not enough.
    pub line: i128,
    /// The fx fields (2.10), key and text; almost always none.
    pub fx: Box<[(StringId, StringId)]>,
}

/// All frames of a snapshot; a few thousand in the largest files.
#[derive(Default)]
pub struct Frames {
    frames: Vec<Frame>,
    ids: HashTable<u32>,
    hasher: RandomState,
}

impl Frames {
    /// The id of `frame`, which is new or already known. `None` when 2^32 − 1 frames are held.
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

    /// The frame with this id.
    ///
    /// # Panics
    /// When the id is of another snapshot.
    pub fn frame(&self, id: FrameId) -> &Frame {
        &self.frames[id.0 as usize]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.frames.capacity() * size_of::<Frame>()
            + self.frames.iter().map(|frame| size_of_val(&*frame.fx)).sum::<usize>()
            + self.ids.allocation_size()
    }
}
