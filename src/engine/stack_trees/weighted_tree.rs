//! Weights of the nodes of a tree for one selection of allocations, with links to the children of nonzero weight.

use super::shape::TreeShape;
use super::weights::{Selection, Weights};
use crate::radix::Radix;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::sorted_numbers;
use protocol::{Arrangement, Ends, Weight};
use std::borrow::Cow;

/// Maximum number of children that are sorted on each request. If a node has more children, their order is computed
/// once, in time slices, and cached.
const MAX_SORTED_AT_ONCE: u32 = 2048;

/// Weights of a node: the total of its subtree, and only the stacks that end at the node (`self_bytes` and
/// `self_count`).
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    bytes: u64,
    self_bytes: u64,
    count: u32,
    self_count: u32,
    /// First child whose weight is nonzero, or 0 if all are zero.
    first_child: u32,
    /// Next sibling whose weight is nonzero, or 0 if all are zero.
    next_sibling: u32,
    /// Number of children whose weight is nonzero.
    children: u32,
}

/// Weights of all nodes of a tree for one selection of allocations.
pub(super) struct WeightedTree {
    pub(super) selection: Selection,
    pub(super) arrangement: Arrangement,
    nodes: Vec<Node>,
    /// Live weight of each node at the start and at the end of the range of a change. Empty for other scopes.
    ends: Vec<Ends>,
    /// Number of nodes that the tree will have once complete.
    len: usize,
    /// Number of stack keys (stack and origin) whose weights were added to their nodes so far.
    stack_keys: usize,
    /// Number of nodes whose weights were added to their parents so far, from the last node backwards.
    summed: usize,
    /// Nodes with more than [`MAX_SORTED_AT_ONCE`] children in descending order of ids, each with its sorted children.
    wide_nodes: Vec<(u32, Vec<u32>)>,
    /// Number of items in `wide_nodes` whose children are sorted. `radix` sorts the children of the next item, and
    /// `next` is the next child to add to this sort.
    sorted_count: usize,
    radix: Radix,
    next: u32,
}

base::heap_bytes!(WeightedTree: ends, nodes, [wide_nodes], radix);

impl WeightedTree {
    /// Creates a tree whose weights are zero. `shape` must already contain all stack keys (stack and origin) whose
    /// weight will be nonzero.
    pub(super) fn new(selection: Selection, shape: &TreeShape) -> WeightedTree {
        let len = shape.len();
        let (nodes, wide_nodes, radix) = (Vec::with_capacity(len), Vec::new(), Radix::default());
        let arrangement = shape.arrangement;
        WeightedTree {
            selection,
            arrangement,
            nodes,
            ends: Vec::new(),
            len,
            stack_keys: 0,
            summed: 0,
            wide_nodes,
            sorted_count: 0,
            radix,
            next: 0,
        }
    }

    /// Continues adding up the weight of each node from its own stacks and its children.
    pub(super) fn step(&mut self, shape: &TreeShape, weights: &Weights, slice: &mut TimeSlice) -> SliceResult {
        let mut node_count = self.nodes.len();
        while let Some(part) = slice.next_range(&mut node_count, self.len, 1)? {
            self.nodes.resize(part.end, Node::default());
            if weights.has_ends() {
                self.ends.resize(part.end, Ends::default());
            }
        }
        while let Some(part) = slice.next_range(&mut self.stack_keys, weights.stack_key_count(), 1)? {
            for stack_key in part {
                let index = shape.node_of_stack_key(stack_key as u32) as usize;
                add_ends(&mut self.ends, index, weights.ends_of_stack_key(stack_key));
                if let Some(node) = self.nodes.get_mut(index) {
                    let Weight { bytes, count } = weights.of_stack_key(stack_key);
                    node.self_bytes = node.self_bytes.saturating_add(bytes);
                    node.self_count = node.self_count.saturating_add(count);
                    node.bytes = node.bytes.saturating_add(bytes);
                    node.count = node.count.saturating_add(count);
                }
            }
        }
        // Children have higher numbers than their parents, so this goes from the highest down.
        while let Some(part) = slice.next_range(&mut self.summed, self.len, 1)? {
            for index in part.map(|summed| self.len - 1 - summed) {
                let total = self.weight(index as u32);
                if self.node(index as u32).children > MAX_SORTED_AT_ONCE {
                    self.wide_nodes.push((index as u32, Vec::new()));
                }
                let Some(parent) = shape.parent(index as u32).filter(|_| total.count > 0) else { continue };
                let ends = self.ends(index as u32);
                add_ends(&mut self.ends, parent as usize, ends);
                let Some(parent) = self.nodes.get_mut(parent as usize) else { continue };
                parent.bytes = parent.bytes.saturating_add(total.bytes);
                parent.count = parent.count.saturating_add(total.count);
                parent.children += 1;
                let next = std::mem::replace(&mut parent.first_child, index as u32);
                self.nodes.get_mut(index).into_iter().for_each(|node| node.next_sibling = next);
            }
        }
        self.sort_wide_nodes(slice)
    }

    /// Continues sorting the children of nodes with more than [`MAX_SORTED_AT_ONCE`] children.
    fn sort_wide_nodes(&mut self, slice: &mut TimeSlice) -> SliceResult {
        while let Some(&(node, _)) = self.wide_nodes.get(self.sorted_count) {
            let Node { first_child, children, .. } = self.node(node);
            if self.radix.len() == 0 {
                (self.radix, self.next) = (Radix::with_capacity(children as usize), first_child);
            }
            // Children are pushed in ascending order, and the sort is stable.
            while self.next != 0 {
                slice.tick()?;
                self.radix.push(!self.sort_key(self.next), self.next);
                self.next = self.node(self.next).next_sibling;
            }
            self.radix.step(slice)?;
            let order = std::mem::take(&mut self.radix).into_ids();
            if let Some((_, children)) = self.wide_nodes.get_mut(self.sorted_count) {
                *children = order;
            }
            self.sorted_count += 1;
        }
        Ok(())
    }

    fn node(&self, node: u32) -> Node {
        self.nodes.get(node as usize).copied().unwrap_or_default()
    }

    /// Returns the total weight of a node, including all nodes below it.
    pub(super) fn weight(&self, node: u32) -> Weight {
        let Node { bytes, count, .. } = self.node(node);
        Weight { bytes, count }
    }

    /// Returns the live weight of a subtree at the start and at the end of the range of a change.
    pub(super) fn ends(&self, node: u32) -> Ends {
        self.ends.get(node as usize).copied().unwrap_or_default()
    }

    /// Returns the sort key of a node: its bytes, or for a change, the difference in bytes between start and end.
    fn sort_key(&self, node: u32) -> u64 {
        match self.ends.get(node as usize) {
            Some([begin, end]) => begin.bytes.abs_diff(end.bytes),
            None => self.node(node).bytes,
        }
    }

    /// Returns the weight of the stacks that end exactly at a node.
    pub(super) fn self_weight(&self, node: u32) -> Weight {
        let Node { self_bytes: bytes, self_count: count, .. } = self.node(node);
        Weight { bytes, count }
    }

    /// Returns the child with the lowest id whose weight is nonzero.
    pub(super) fn first_child(&self, node: u32) -> Option<u32> {
        Some(self.node(node).first_child).filter(|&child| child != 0)
    }

    /// Returns the sibling with the next higher id whose weight is nonzero.
    pub(super) fn next_sibling(&self, node: u32) -> Option<u32> {
        Some(self.node(node).next_sibling).filter(|&next| next != 0)
    }

    /// Returns the number of children whose weight is nonzero.
    pub(super) fn child_count(&self, node: u32) -> u32 {
        self.node(node).children
    }

    /// Returns the children whose weight is nonzero, heaviest or most changed first. The lower id wins ties.
    pub(super) fn children(&self, node: u32) -> Cow<'_, [u32]> {
        if let Ok(index) = self.wide_nodes.binary_search_by(|(known, _)| node.cmp(known))
            && let Some((_, children)) = self.wide_nodes.get(index)
        {
            return Cow::Borrowed(children);
        }
        let children = std::iter::successors(self.first_child(node), |&child| self.next_sibling(child));
        Cow::Owned(sorted_numbers(children.map(|child| (u128::from(!self.sort_key(child)), child)).collect()))
    }
}

/// Adds `more` to the weights of a node at the start and at the end of a change. Does nothing if `ends` is empty.
fn add_ends(ends: &mut [Ends], node: usize, more: Ends) {
    let sums = ends.get_mut(node).into_iter().flatten();
    sums.zip(more).for_each(|(sum, more)| sum.add(more));
}
