//! Call stacks as a prefix tree. Stacks share their common outer frames.
//!
//! A stack is identified by the node of its innermost frame. The path from there to the root has the frames in file
//! order, innermost first. Parents have lower ids than children:
//!
//! ```text
//! id      0      1        2          3           4
//! frame   –      <module> main       forward     backward
//! parent  –      0        1          2           2
//! ```

use super::frames::FrameId;
use base::column::Column;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Index of a stack's innermost node in the snapshot's tree. Equal stacks have equal ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackId(pub u32);

impl StackId {
    /// Stack without frames, the root of the tree.
    pub const EMPTY: StackId = StackId(0);
    /// Sentinel: no stack was recorded.
    pub const NONE: StackId = StackId(u32::MAX);
}

/// Stacks of a snapshot.
pub struct Stacks {
    nodes: Column<(u32, u32)>,
    /// Complete stacks, indexed by a hash of their frames, so that a known stack needs one lookup instead of one per
    /// frame.
    by_frames: HashTable<(u64, u32)>,
    children: HashTable<u32>,
    hasher: RandomState,
}

base::heap_bytes!(Stacks: nodes, by_frames, children);

impl Default for Stacks {
    fn default() -> Self {
        Stacks {
            nodes: [(0, u32::MAX)].into_iter().collect(),
            by_frames: HashTable::new(),
            children: HashTable::new(),
            hasher: RandomState::default(),
        }
    }
}

impl Stacks {
    /// Returns the id of the stack with these frames (innermost first), which is added if it is new. Returns `None` if
    /// the tree is full, with 2^32 − 2 nodes.
    pub fn intern(&mut self, frames: &[u32]) -> Option<StackId> {
        if frames.is_empty() {
            return Some(StackId::EMPTY);
        }
        let hash = self.hasher.hash_one(frames);
        if let Some(&(_, id)) =
            self.by_frames.find(hash, |&(known, id)| known == hash && self.is_equal(StackId(id), frames))
        {
            return Some(StackId(id));
        }
        let mut node = 0;
        for &frame in frames.iter().rev() {
            node = self.child(node, frame)?;
        }
        self.by_frames.insert_unique(hash, (hash, node), |&(hash, _)| hash);
        Some(StackId(node))
    }

    /// Drops the tables that find known stacks, once no more stacks are interned. Later ones would not be merged with
    /// the known ones.
    pub(super) fn drop_index(&mut self) {
        (self.by_frames, self.children) = Default::default();
    }

    /// Creates a tree with the nodes of `stacks`, where each frame is replaced. Equal stacks are not merged.
    pub(super) fn with_frames(stacks: &Stacks, mut replace: impl FnMut(u32) -> u32) -> Stacks {
        let root = stacks.nodes.iter().take(1);
        let others = stacks.nodes.iter().skip(1).map(|(parent, frame)| (parent, replace(frame)));
        Stacks { nodes: root.chain(others).collect(), ..Stacks::default() }
    }

    fn is_equal(&self, id: StackId, frames: &[u32]) -> bool {
        let mut node = id.0 as usize;
        frames.iter().all(|&wanted| {
            let (parent, frame) = self.nodes.at(node);
            node = parent as usize;
            frame == wanted
        }) && node == 0
    }

    /// Returns the node of `frame` below the node `parent`, which is added if it is new. Returns `None` if the tree is
    /// full, with 2^32 − 2 nodes.
    pub fn child(&mut self, parent: u32, frame: u32) -> Option<u32> {
        let Stacks { nodes, children, hasher, .. } = self;
        let node = (parent, frame);
        let hash = hasher.hash_one(node);
        if let Some(&id) = children.find(hash, |&id| nodes.at(id as usize) == node) {
            return Some(id);
        }
        let id = u32::try_from(nodes.len()).ok().filter(|&id| id < u32::MAX - 1)?;
        nodes.push(node);
        children.insert_unique(hash, id, |&id| hasher.hash_one(nodes.at(id as usize)));
        Some(id)
    }

    /// Adds a node of `frame` below the node `parent` even if there is an equal one, so that ids are the row numbers of
    /// a file. Returns `None` if the tree is full.
    pub fn push(&mut self, parent: u32, frame: u32) -> Option<u32> {
        let id = u32::try_from(self.nodes.len()).ok().filter(|&id| id < u32::MAX - 1)?;
        self.nodes.push((parent, frame));
        Some(id)
    }

    /// Iterates over the frames of a stack, innermost first. [`StackId::NONE`] has no frames.
    pub fn frames(&self, id: StackId) -> impl Iterator<Item = FrameId> + '_ {
        let mut node = if id == StackId::NONE { 0 } else { id.0 as usize };
        std::iter::from_fn(move || {
            if node == 0 {
                return None;
            }
            let (parent, frame) = self.nodes.get(node)?;
            node = parent as usize;
            Some(FrameId(frame))
        })
    }

    /// Returns the stack of the callers and the innermost frame, or `None` for a stack without frames. The callers'
    /// stack has a lower id.
    pub fn innermost(&self, id: StackId) -> Option<(StackId, FrameId)> {
        let (callers, frame) = self.nodes.get(id.0 as usize).filter(|_| id != StackId::EMPTY)?;
        Some((StackId(callers), FrameId(frame)))
    }

    /// Returns the number of nodes, including the root. All ids are lower than this number.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Always returns false, because the root is present.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/snapshot/stacks.rs"]
mod tests;
