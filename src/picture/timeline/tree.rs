//! Sums over the live allocations of a window, in a tree: bytes, count and the largest of every group.
//!
//! ```text
//! level 2                        one node                      the root
//! level 1      | 8 leaves | 8 leaves | .. 8 nodes a parent
//! leaves       | 8 allocations in order of rank; live bytes or 0
//! ```
//!
//! With eight children per node, their sums are adjacent in memory, and a million leaves take seven levels.

use std::ops::Range;

/// Number of children per node, as an exponent of two.
const FAN_BITS: u32 = 3;
const FAN: usize = 1 << FAN_BITS;

/// Sums over the live allocations under a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LiveSums {
    pub(super) bytes: u64,
    /// Bytes of the largest live allocation.
    pub(super) largest: u64,
    pub(super) largest_leaf: u32,
    /// Number of live allocations.
    pub(super) count: u32,
}

impl LiveSums {
    /// Returns the sums of both groups. Byte sums wrap, so that subtracting a size restores the previous sum even if a
    /// corrupt file's totals exceed 64 bits.
    pub(super) fn plus(self, other: LiveSums) -> LiveSums {
        let other_leads = other.count > 0
            && (self.count == 0 || (other.largest, self.largest_leaf) > (self.largest, other.largest_leaf));
        let (largest, largest_leaf) =
            if other_leads { (other.largest, other.largest_leaf) } else { (self.largest, self.largest_leaf) };
        let bytes = self.bytes.wrapping_add(other.bytes);
        LiveSums { bytes, largest, largest_leaf, count: self.count + other.count }
    }
}

/// A node of the tree. `index` counts the nodes of a level from the left. Level 0 contains the leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TreeNode {
    pub(super) level: u32,
    pub(super) index: u32,
}

impl TreeNode {
    /// Returns the lowest node, which covers only this leaf.
    pub(super) fn leaf(leaf: u32) -> TreeNode {
        TreeNode { level: 0, index: leaf }
    }

    /// Returns the first leaf under the node.
    pub(super) fn first_leaf(self) -> u32 {
        (u64::from(self.index) << (self.level * FAN_BITS)) as u32
    }

    /// Returns one past the last leaf under the node.
    pub(super) fn end_leaf(self) -> u64 {
        (u64::from(self.index) + 1) << (self.level * FAN_BITS)
    }
}

/// Tree of the live allocations of a window. Leaves are numbered by rank.
#[derive(Clone, Debug, Default)]
pub(super) struct LiveTree {
    leaves: Vec<u64>,
    /// `levels[k]` is level k + 1. The last level has one node.
    levels: Vec<Vec<LiveSums>>,
}

impl LiveTree {
    /// Creates a tree of `leaves` leaves without live allocations.
    pub(super) fn new(leaves: usize) -> LiveTree {
        let mut levels = Vec::new();
        let mut width = leaves;
        while levels.is_empty() || width > 1 {
            width = width.div_ceil(FAN).max(1);
            levels.push(vec![LiveSums::default(); width]);
        }
        LiveTree { leaves: vec![0; leaves], levels }
    }

    pub(super) fn root(&self) -> TreeNode {
        TreeNode { level: self.levels.len() as u32, index: 0 }
    }

    /// Returns the sums over the leaves of a node.
    #[inline(always)]
    pub(super) fn live(&self, node: TreeNode) -> LiveSums {
        match node.level.checked_sub(1) {
            Some(level) => self.levels.get(level as usize).and_then(|nodes| nodes.get(node.index as usize)).copied(),
            None => self.leaves.get(node.index as usize).map(|&bytes| live_leaf(node.index, bytes)),
        }
        .unwrap_or_default()
    }

    /// Calls `visit` with each live child of an inner node (level 1 or higher), from the left.
    #[inline(always)]
    pub(super) fn for_each_child(&self, node: TreeNode, mut visit: impl FnMut(TreeNode, LiveSums)) {
        let first = (node.index as usize) << FAN_BITS;
        let level = node.level.saturating_sub(1);
        let child = |index: usize| TreeNode { level, index: index as u32 };
        if let Some(nodes) = level.checked_sub(1).and_then(|level| self.levels.get(level as usize)) {
            for (index, live) in (first..).zip(part(nodes, first..first + FAN)).filter(|(_, live)| live.count > 0) {
                visit(child(index), *live);
            }
        } else {
            for (index, &bytes) in
                (first..).zip(part(&self.leaves, first..first + FAN)).filter(|(_, bytes)| **bytes > 0)
            {
                visit(child(index), live_leaf(index as u32, bytes));
            }
        }
    }

    /// Marks a leaf as live, with `bytes` bytes, which must not be 0.
    pub(super) fn insert(&mut self, leaf: u32, bytes: u64) {
        let Some(slot) = self.leaves.get_mut(leaf as usize) else { return };
        *slot = bytes;
        let added = live_leaf(leaf, bytes);
        let mut index = leaf as usize;
        for nodes in &mut self.levels {
            index >>= FAN_BITS;
            if let Some(node) = nodes.get_mut(index) {
                *node = node.plus(added);
            }
        }
    }

    /// Marks a leaf as no longer live.
    pub(super) fn remove(&mut self, leaf: u32) {
        let Some(slot) = self.leaves.get_mut(leaf as usize) else { return };
        let bytes = std::mem::take(slot);
        let mut index = leaf as usize;
        for level in 0..self.levels.len() {
            index >>= FAN_BITS;
            let (below, above) = self.levels.split_at_mut(level);
            let Some(node) = above.first_mut().and_then(|nodes| nodes.get_mut(index)) else { return };
            if node.count <= 1 {
                *node = LiveSums::default();
            } else if node.largest_leaf == leaf {
                let children = index << FAN_BITS..(index + 1) << FAN_BITS;
                *node = match below.last() {
                    Some(nodes) => sum(part(nodes, children).iter().copied()),
                    None => sum(children
                        .clone()
                        .zip(part(&self.leaves, children))
                        .map(|(leaf, &bytes)| live_leaf(leaf as u32, bytes))),
                };
            } else {
                node.bytes = node.bytes.wrapping_sub(bytes);
                node.count -= 1;
            }
        }
    }

    /// Returns the first leaf of the largest inner node that contains `leaf` and has less than `below` bytes. If there
    /// is no such node, returns `leaf`.
    pub(super) fn start_of_thin(&self, leaf: u32, below: u64) -> u32 {
        let around = |level: u32| TreeNode { level, index: (u64::from(leaf) >> (level * FAN_BITS)) as u32 };
        let thin = |node: &TreeNode| self.live(*node).bytes < below;
        (1..=self.levels.len() as u32).rev().map(around).find(thin).map_or(leaf, TreeNode::first_leaf)
    }

    /// Returns the sums over a range of leaves, and its first and last live leaf.
    pub(super) fn live_in(&self, leaves: Range<u32>) -> (LiveSums, [u32; 2]) {
        let mut sum = LiveSums::default();
        let mut ends: Option<[TreeNode; 2]> = None;
        let mut add = |level: u32, index: u32| {
            let node = TreeNode { level, index };
            let live = self.live(node);
            if live.count > 0 {
                sum = sum.plus(live);
                let [first, last] = ends.unwrap_or([node; 2]);
                ends = Some([
                    if node.first_leaf() < first.first_leaf() { node } else { first },
                    if node.first_leaf() > last.first_leaf() { node } else { last },
                ]);
            }
        };
        let (mut level, mut from, mut to) = (0, leaves.start, leaves.end);
        while from < to {
            let is_top = level >= self.root().level;
            while from < to && (is_top || !from.is_multiple_of(FAN as u32)) {
                add(level, from);
                from += 1;
            }
            while from < to && !to.is_multiple_of(FAN as u32) {
                to -= 1;
                add(level, to);
            }
            (level, from, to) = (level + 1, from >> FAN_BITS, to >> FAN_BITS);
        }
        (sum, ends.map_or([0; 2], |[first, last]| [self.first_live(first), self.last_live(last)]))
    }

    /// Returns the first live leaf under a node, which must have one.
    pub(super) fn first_live(&self, node: TreeNode) -> u32 {
        self.live_at_end(node, |first, _| first)
    }

    /// Returns the last live leaf under a node, which must have one.
    pub(super) fn last_live(&self, node: TreeNode) -> u32 {
        self.live_at_end(node, |_, last| last)
    }

    /// Descends to the live leaf at one end of a node. `choose` picks the one of two neighbours that is closer to this
    /// end.
    fn live_at_end(&self, mut node: TreeNode, choose: impl Fn(TreeNode, TreeNode) -> TreeNode) -> u32 {
        while node.level > 0 {
            let mut end = None;
            self.for_each_child(node, |child, _| end = Some(end.map_or(child, |end| choose(end, child))));
            match end {
                Some(child) => node = child,
                None => break,
            }
        }
        node.first_leaf()
    }
}

fn sum(children: impl Iterator<Item = LiveSums>) -> LiveSums {
    children.fold(LiveSums::default(), LiveSums::plus)
}

/// Returns the part of a range that exists. The last node of a level may have fewer than eight children.
fn part<T>(nodes: &[T], range: Range<usize>) -> &[T] {
    let end = range.end.min(nodes.len());
    nodes.get(range.start..end).unwrap_or_default()
}

fn live_leaf(leaf: u32, bytes: u64) -> LiveSums {
    LiveSums { bytes, largest: bytes, largest_leaf: leaf, count: u32::from(bytes > 0) }
}

#[cfg(test)]
#[path = "../../../tests/units/picture/timeline/tree.rs"]
mod tests;
