//! The allocations whose stacks are at or below a node of a tree.

use super::shape::TreeShape;
use super::stack_keys::StackKeys;
use crate::device::DeviceData;
use analysis::IdSet;
use base::slice::{SliceResult, TimeSlice};
use history::replay::AllocationId;
use protocol::Arrangement;

/// The nodes of a subtree, and the stack keys (stack and origin) of their allocations.
pub(crate) struct Subtree {
    pub(super) arrangement: Arrangement,
    pub(super) node: u32,
    /// Number of nodes and number of stack keys when the subtree was created.
    counts: [usize; 2],
    nodes: IdSet,
    next: usize,
    stack_keys: IdSet,
}

base::heap_bytes!(Subtree: nodes, stack_keys);

impl Subtree {
    pub(super) fn new(shape: &TreeShape, node: u32, stack_keys: usize) -> Subtree {
        let counts = [shape.len(), stack_keys];
        let (nodes, stack_keys) = (IdSet::with_bound(shape.len()), IdSet::with_bound(stack_keys));
        Subtree { arrangement: shape.arrangement, node, counts, nodes, next: 0, stack_keys }
    }

    /// Returns whether nodes or stack keys were added to the tree since the subtree was created.
    pub(super) fn is_stale(&self, shape: &TreeShape, stack_keys: usize) -> bool {
        self.counts != [shape.len(), stack_keys]
    }

    /// Continues collecting the nodes of the subtree, and then their stack keys.
    pub(super) fn step(&mut self, shape: &TreeShape, slice: &mut TimeSlice) -> SliceResult {
        let [nodes, stack_keys] = self.counts;
        while let Some(part) = slice.next_range(&mut self.next, nodes + stack_keys, 1)? {
            for index in part {
                match index.checked_sub(nodes) {
                    // Parents have lower numbers than their children.
                    None => {
                        let node = index as u32;
                        let is_below = shape.parent(node).is_some_and(|parent| self.nodes.contains(parent));
                        if is_below || node == self.node {
                            self.nodes.insert(node);
                        }
                    }
                    Some(stack_key) if self.nodes.contains(shape.node_of_stack_key(stack_key as u32)) => {
                        self.stack_keys.insert(stack_key as u32);
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(())
    }

    /// Returns whether an allocation's stack is in the subtree.
    pub(crate) fn contains(&self, stack_keys: &StackKeys, data: DeviceData<'_>, id: AllocationId) -> bool {
        stack_keys.number_of(data, id).is_some_and(|stack_key| self.stack_keys.contains(stack_key))
    }
}
