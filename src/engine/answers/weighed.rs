//! What each node of a tree weighs, for one selection, and which children of it weigh anything.

use super::shape::Shape;
use super::weights::{Selection, Weights};
use crate::protocol::{Arrangement, Ends, Weight};
use crate::radix::Radix;
use base::slice::{Slice, Sliced};
use base::sorted::sorted_numbers;
use std::borrow::Cow;

/// Children that are sorted whenever they are asked for. The order of more is made once, in slices, and kept.
const MOST_SORTED_AT_ONCE: u32 = 2048;

/// What a node weighs: itself and all below it, and what ends there.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    bytes: u64,
    own_bytes: u64,
    count: u32,
    own_count: u32,
    /// The first of its children that weigh anything, and the next child of its parent; 0: none.
    child: u32,
    next: u32,
    /// How many children weigh anything.
    children: u32,
}

/// The weights of the nodes of one arrangement.
pub(super) struct Weighed {
    pub(super) of: Selection,
    pub(super) arrangement: Arrangement,
    nodes: Vec<Node>,
    /// Of a change, what each node weighs at both ends; else empty.
    ends: Vec<Ends>,
    /// How many there shall be.
    len: usize,
    /// Stems that stand in `own`.
    stems: usize,
    /// How many nodes were added to their parents, from the last on.
    summed: usize,
    /// Nodes with more children than are sorted at once, the last first, each with its children in their order.
    wide: Vec<(u32, Vec<u32>)>,
    /// How many of these have it; children of the one that comes then, and which of them is put there next.
    ordered: usize,
    radix: Radix,
    next: u32,
}

impl Weighed {
    /// `shape` has grown by all stems that weigh anything.
    pub(super) fn new(of: Selection, shape: &Shape) -> Weighed {
        let len = shape.len();
        let (nodes, wide, radix) = (Vec::with_capacity(len), Vec::new(), Radix::default());
        let arrangement = shape.arrangement;
        Weighed { of, arrangement, nodes, ends: Vec::new(), len, stems: 0, summed: 0, wide, ordered: 0, radix, next: 0 }
    }

    /// Sums up.
    pub(super) fn step(&mut self, shape: &Shape, weights: &Weights, slice: &mut Slice) -> Sliced {
        let mut room = self.nodes.len();
        while let Some(part) = slice.part(&mut room, self.len, 1)? {
            self.nodes.resize(part.end, Node::default());
            if weights.has_ends() {
                self.ends.resize(part.end, Ends::default());
            }
        }
        while let Some(part) = slice.part(&mut self.stems, weights.stems(), 1)? {
            for stem in part {
                let at = shape.of_stem(stem as u32) as usize;
                add_ends(&mut self.ends, at, weights.ends_of_stem(stem));
                if let Some(node) = self.nodes.get_mut(at) {
                    let Weight { bytes, count } = weights.of_stem(stem);
                    node.own_bytes = node.own_bytes.saturating_add(bytes);
                    node.own_count = node.own_count.saturating_add(count);
                    node.bytes = node.bytes.saturating_add(bytes);
                    node.count = node.count.saturating_add(count);
                }
            }
        }
        // Children have higher numbers, so from the highest down.
        while let Some(part) = slice.part(&mut self.summed, self.len, 1)? {
            for at in part.map(|summed| self.len - 1 - summed) {
                let total = self.weight(at as u32);
                if self.node(at as u32).children > MOST_SORTED_AT_ONCE {
                    self.wide.push((at as u32, Vec::new()));
                }
                let Some(parent) = shape.parent(at as u32).filter(|_| total.count > 0) else { continue };
                let ends = self.ends(at as u32);
                add_ends(&mut self.ends, parent as usize, ends);
                let Some(parent) = self.nodes.get_mut(parent as usize) else { continue };
                parent.bytes = parent.bytes.saturating_add(total.bytes);
                parent.count = parent.count.saturating_add(total.count);
                parent.children += 1;
                let next = std::mem::replace(&mut parent.child, at as u32);
                self.nodes.get_mut(at).into_iter().for_each(|node| node.next = next);
            }
        }
        self.order(slice)
    }

    /// Brings the children of wide nodes in their order.
    fn order(&mut self, slice: &mut Slice) -> Sliced {
        while let Some(&(node, _)) = self.wide.get(self.ordered) {
            let Node { child, children, .. } = self.node(node);
            if self.radix.len() == 0 {
                (self.radix, self.next) = (Radix::with_room(children as usize), child);
            }
            // They come ascending, and the sort is stable.
            while self.next != 0 {
                slice.tick()?;
                self.radix.push(!self.rank(self.next), self.next);
                self.next = self.node(self.next).next;
            }
            self.radix.step(slice)?;
            let order = std::mem::take(&mut self.radix).into_ids();
            if let Some((_, children)) = self.wide.get_mut(self.ordered) {
                *children = order;
            }
            self.ordered += 1;
        }
        Ok(())
    }

    fn node(&self, node: u32) -> Node {
        self.nodes.get(node as usize).copied().unwrap_or_default()
    }

    /// What is in a node and below it.
    pub(super) fn weight(&self, node: u32) -> Weight {
        let Node { bytes, count, .. } = self.node(node);
        Weight { bytes, count }
    }

    /// What is live in a node and below it at both ends of a change.
    pub(super) fn ends(&self, node: u32) -> Ends {
        self.ends.get(node as usize).copied().unwrap_or_default()
    }

    /// What children are sorted by: bytes, or those that a change adds or takes away.
    fn rank(&self, node: u32) -> u64 {
        match self.ends.get(node as usize) {
            Some([begin, end]) => begin.bytes.abs_diff(end.bytes),
            None => self.node(node).bytes,
        }
    }

    /// What ends at a node.
    pub(super) fn own(&self, node: u32) -> Weight {
        let Node { own_bytes: bytes, own_count: count, .. } = self.node(node);
        Weight { bytes, count }
    }

    /// The first of its children that weigh anything, by number; `None` where there are none.
    pub(super) fn first_child(&self, node: u32) -> Option<u32> {
        Some(self.node(node).child).filter(|&child| child != 0)
    }

    /// The child of the same parent that comes after this one, by number.
    pub(super) fn next_child(&self, node: u32) -> Option<u32> {
        Some(self.node(node).next).filter(|&next| next != 0)
    }

    /// How many children weigh anything.
    pub(super) fn child_count(&self, node: u32) -> u32 {
        self.node(node).children
    }

    /// The children that weigh anything, the heaviest or most changed first, of equal ones that with the lower number.
    pub(super) fn children(&self, node: u32) -> Cow<'_, [u32]> {
        if let Ok(place) = self.wide.binary_search_by(|(known, _)| node.cmp(known))
            && let Some((_, children)) = self.wide.get(place)
        {
            return Cow::Borrowed(children);
        }
        let numbers = std::iter::successors(self.first_child(node), |&at| self.next_child(at));
        Cow::Owned(sorted_numbers(numbers.map(|at| (u128::from(!self.rank(at)), at)).collect()))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let children: usize = self.wide.iter().map(|(_, children)| children.capacity()).sum();
        let ends = self.ends.capacity() * size_of::<Ends>();
        ends + self.nodes.capacity() * size_of::<Node>() + children * size_of::<u32>() + self.radix.heap_bytes()
    }
}

/// Puts both ends on top of what a node has; nothing where there are none.
fn add_ends(ends: &mut [Ends], node: usize, more: Ends) {
    let sums = ends.get_mut(node).into_iter().flatten();
    sums.zip(more).for_each(|(sum, more)| sum.add(more));
}
