//! The allocations whose stacks are at a node of a tree or below it.

use super::shape::Shape;
use super::stems::Stems;
use crate::device::Open;
use crate::protocol::Arrangement;
use analysis::IdSet;
use base::slice::{Slice, Sliced};
use history::replay::AllocationId;

/// The stems at a node and below it.
pub(crate) struct Subtree {
    pub(super) arrangement: Arrangement,
    pub(super) node: u32,
    /// As many nodes and stems as it was made for.
    counts: [usize; 2],
    nodes: IdSet,
    next: usize,
    stems: IdSet,
}

impl Subtree {
    pub(super) fn new(shape: &Shape, node: u32, stems: usize) -> Subtree {
        let counts = [shape.len(), stems];
        let (nodes, stems) = (IdSet::below(shape.len()), IdSet::below(stems));
        Subtree { arrangement: shape.arrangement, node, counts, nodes, next: 0, stems }
    }

    /// Whether it was made for less than there is now.
    pub(super) fn is_outgrown(&self, shape: &Shape, stems: usize) -> bool {
        self.counts != [shape.len(), stems]
    }

    /// Collects.
    pub(super) fn step(&mut self, shape: &Shape, slice: &mut Slice) -> Sliced {
        let [nodes, stems] = self.counts;
        while let Some(part) = slice.part(&mut self.next, nodes + stems, 1)? {
            for at in part {
                match at.checked_sub(nodes) {
                    // Parents come before children.
                    None => {
                        let below = shape.parent(at as u32).is_some_and(|parent| self.nodes.contains(parent));
                        if below || at as u32 == self.node {
                            self.nodes.insert(at as u32);
                        }
                    }
                    Some(stem) if self.nodes.contains(shape.of_stem(stem as u32)) => self.stems.insert(stem as u32),
                    Some(_) => {}
                }
            }
        }
        Ok(())
    }

    /// Whether an allocation's stack is at the node or below it.
    pub(crate) fn holds(&self, stems: &Stems, open: Open<'_>, id: AllocationId) -> bool {
        stems.of(open, id).is_some_and(|stem| self.stems.contains(stem))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.nodes.heap_bytes() + self.stems.heap_bytes()
    }
}
