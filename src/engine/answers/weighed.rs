//! What each node of a tree weighs, for one selection, and which children of it weigh anything.

use super::shape::Shape;
use super::weights::{Selection, Weights, add};
use crate::engine::protocol::{Arrangement, Weight};
use crate::sorted::sorted_numbers;

/// Stems or nodes between two questions for the time.
const ROWS_PER_CHECK: usize = 8192;

/// What a node weighs.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// It and all below it.
    total: Weight,
    /// What ends there.
    own: Weight,
    /// The first of its children that weigh anything, and the next child of its parent; 0: none.
    child: u32,
    next: u32,
}

/// The weights of the nodes of one arrangement.
pub(super) struct Weighed {
    pub(super) of: Selection,
    pub(super) arrangement: Arrangement,
    nodes: Vec<Node>,
    /// Stems that stand in `own`.
    stems: usize,
    /// Nodes whose children are all summed up are those from here on.
    summed: usize,
}

impl Weighed {
    /// `shape` has grown by all stems that weigh anything.
    pub(super) fn new(of: Selection, shape: &Shape) -> Weighed {
        let nodes = vec![Node::default(); shape.len()];
        let summed = nodes.len();
        Weighed { of, arrangement: shape.arrangement, nodes, stems: 0, summed }
    }

    /// Sums up while there is time: `true` when done.
    pub(super) fn step(&mut self, shape: &Shape, weights: &Weights, has_time: &mut dyn FnMut() -> bool) -> bool {
        while self.stems < weights.stems() {
            let end = weights.stems().min(self.stems + ROWS_PER_CHECK);
            for stem in self.stems..end {
                if let Some(node) = self.nodes.get_mut(shape.of_stem(stem as u32) as usize) {
                    add(&mut node.own, weights.of_stem(stem));
                    add(&mut node.total, weights.of_stem(stem));
                }
            }
            self.stems = end;
            if !has_time() {
                return false;
            }
        }
        // Children have higher numbers, so from the highest down.
        while self.summed > 0 {
            let begin = self.summed.saturating_sub(ROWS_PER_CHECK);
            for at in (begin..self.summed).rev() {
                let total = self.weight(at as u32);
                let Some(parent) = shape.parent(at as u32).filter(|_| total.count > 0) else { continue };
                let Some(parent) = self.nodes.get_mut(parent as usize) else { continue };
                add(&mut parent.total, total);
                let next = std::mem::replace(&mut parent.child, at as u32);
                self.nodes.get_mut(at).into_iter().for_each(|node| node.next = next);
            }
            self.summed = begin;
            if !has_time() {
                return false;
            }
        }
        true
    }

    fn node(&self, node: u32) -> Node {
        self.nodes.get(node as usize).copied().unwrap_or_default()
    }

    /// What is in a node and below it.
    pub(super) fn weight(&self, node: u32) -> Weight {
        self.node(node).total
    }

    /// What ends at a node.
    pub(super) fn own(&self, node: u32) -> Weight {
        self.node(node).own
    }

    /// Whether it has children that weigh anything.
    pub(super) fn has_children(&self, node: u32) -> bool {
        self.node(node).child != 0
    }

    fn numbers(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.node(node).child;
        std::iter::successors(Some(first), |&at| Some(self.node(at).next)).take_while(|&at| at != 0)
    }

    /// How many children weigh anything.
    pub(super) fn child_count(&self, node: u32) -> u32 {
        self.numbers(node).count() as u32
    }

    /// The children that weigh anything, heaviest first, of equal ones that with the lower number.
    pub(super) fn children(&self, node: u32) -> Vec<u32> {
        sorted_numbers(self.numbers(node).map(|at| (u128::from(!self.weight(at).bytes), at)).collect())
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
    }
}
