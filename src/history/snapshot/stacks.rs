//! Call stacks as a prefix tree: stacks that share their outer frames share their memory.
//!
//! A stack is the node of its innermost frame; walking to the root gives the frames innermost first, which is the order of the
//! file. Parents come before children:
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

/// A stack of one snapshot: the node of its innermost frame. Equal stacks have equal ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackId(pub u32);

impl StackId {
    /// The stack without frames, the root.
    pub const EMPTY: StackId = StackId(0);
    /// In a column: no stack was recorded at all.
    pub const NONE: StackId = StackId(u32::MAX);
}

/// All stacks of a snapshot.
pub struct Stacks {
    nodes: Column<(u32, u32)>,
    /// Whole stacks by the hash of their frames, so that a stack seen before costs one look-up, not one a frame.
    whole: HashTable<(u64, u32)>,
    children: HashTable<u32>,
    hasher: RandomState,
}

impl Default for Stacks {
    fn default() -> Self {
        Stacks {
            nodes: [(0, u32::MAX)].into_iter().collect(),
            whole: HashTable::new(),
            children: HashTable::new(),
            hasher: RandomState::default(),
        }
    }
}

impl Stacks {
    /// The id of the stack with these frames, innermost first. `None` when 2^32 − 2 nodes are held.
    pub fn intern(&mut self, frames: &[u32]) -> Option<StackId> {
        if frames.is_empty() {
            return Some(StackId::EMPTY);
        }
        let hash = self.hasher.hash_one(frames);
        if let Some(&(_, id)) = self.whole.find(hash, |&(known, id)| known == hash && self.is(StackId(id), frames)) {
            return Some(StackId(id));
        }
        let mut node = 0;
        for &frame in frames.iter().rev() {
            node = self.child(node, frame)?;
        }
        self.whole.insert_unique(hash, (hash, node), |&(hash, _)| hash);
        Some(StackId(node))
    }

    fn is(&self, id: StackId, frames: &[u32]) -> bool {
        let mut at = id.0 as usize;
        frames.iter().all(|&wanted| {
            let (parent, frame) = self.nodes.at(at);
            at = parent as usize;
            frame == wanted
        }) && at == 0
    }

    /// The node of the stack that `frame` called by the stack of node `parent` is, which is new or already known. `None` when
    /// 2^32 − 2 nodes are held.
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

    /// The frames, innermost first; none for [`StackId::NONE`].
    pub fn frames(&self, id: StackId) -> impl Iterator<Item = FrameId> + '_ {
        let mut at = if id == StackId::NONE { 0 } else { id.0 as usize };
        std::iter::from_fn(move || {
            if at == 0 {
                return None;
            }
            let (parent, frame) = self.nodes.get(at)?;
            at = parent as usize;
            Some(FrameId(frame))
        })
    }

    /// The stack of the callers, and the innermost frame; `None` for a stack without frames. Callers have a lower id.
    pub fn innermost(&self, id: StackId) -> Option<(StackId, FrameId)> {
        let (callers, frame) = self.nodes.get(id.0 as usize).filter(|_| id != StackId::EMPTY)?;
        Some((StackId(callers), FrameId(frame)))
    }

    /// How many nodes there are, the root included; ids are below this.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never: the root is always there.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.nodes.heap_bytes() + self.whole.allocation_size() + self.children.allocation_size()
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/snapshot/stacks.rs"]
mod tests;
