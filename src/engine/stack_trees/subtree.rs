//! The allocations whose stacks are at or below a node of a tree.

use super::shape::TreeShape;
use super::stems::Stems;
use crate::device::DeviceData;
use crate::protocol::Arrangement;
use analysis::IdSet;
use base::slice::{SliceResult, TimeSlice};
use history::replay::AllocationId;

/// The nodes of a subtree, and the stems (stack and origin) of their allocations.
pub(crate) struct Subtree {
    pub(super) arrangement: Arrangement,
    pub(super) node: u32,
    /// Number of nodes and number of stems when the subtree was created.
    counts: [usize; 2],
    nodes: IdSet,
    next: usize,
    stems: IdSet,
}

impl Subtree {
    pub(super) fn new(shape: &TreeShape, node: u32, stems: usize) -> Subtree {
        let counts = [shape.len(), stems];
        let (nodes, stems) = (IdSet::with_bound(shape.len()), IdSet::with_bound(stems));
        Subtree { arrangement: shape.arrangement, node, counts, nodes, next: 0, stems }
    }

    /// Returns whether nodes or stems were added to the tree since the subtree was created.
    pub(super) fn is_stale(&self, shape: &TreeShape, stems: usize) -> bool {
        self.counts != [shape.len(), stems]
    }

    /// Continues collecting the nodes of the subtree, and then their stems.
    pub(super) fn step(&mut self, shape: &TreeShape, slice: &mut TimeSlice) -> SliceResult {
        let [nodes, stems] = self.counts;
        while let Some(part) = slice.next_range(&mut self.next, nodes + stems, 1)? {
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
                    Some(stem) if self.nodes.contains(shape.node_of_stem(stem as u32)) => {
                        self.stems.insert(stem as u32);
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(())
    }

    /// Returns whether an allocation's stack is in the subtree.
    pub(crate) fn contains(&self, stems: &Stems, open: DeviceData<'_>, id: AllocationId) -> bool {
        stems.number_of(open, id).is_some_and(|stem| self.stems.contains(stem))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.nodes.heap_bytes() + self.stems.heap_bytes()
    }
}
