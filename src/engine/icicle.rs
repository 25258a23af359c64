//! A tree of stacks as boxes in whole device pixels: a node below its parent, as wide as it is heavy, the heaviest at the left.
//!
//! Every edge is the exact number of bytes to its left, scaled and rounded down once. So boxes of a row never overlap, each lies inside
//! its parent, and neighbours touch. What is narrower than a pixel is joined, parent by parent, into one box with the exact sum.

use super::protocol::{FlameBox, MOST_BOXES, Weight};
use base::slice::{Slice, Sliced};
use base::sorted::{pair, sorted_by_key};

/// A tree as the boxes need it. Nodes are numbers, the root is 0.
pub(super) trait Nodes {
    /// The node that this one is below; `None` for the root, and for what is no node.
    fn above(&self, node: u32) -> Option<u32>;
    /// The first of the nodes right below this one; nodes without weight may be left out.
    fn first_below(&self, node: u32) -> Option<u32>;
    /// The one that comes after this one, below the same node.
    fn beside(&self, node: u32) -> Option<u32>;
    /// What is in it and below it.
    fn weight(&self, node: u32) -> Weight;
    /// Bytes of that which a search found.
    fn found(&self, node: u32) -> u64;
}

/// What is right below a box, as far as it was looked at.
#[derive(Debug, Default)]
struct Below {
    /// The node that is looked at next.
    node: Option<u32>,
    /// Those that are a pixel wide, and all others together.
    wide: Vec<FlameBox>,
    narrow: FlameBox,
    /// Bytes of the heaviest of these.
    heaviest: u64,
}

/// Boxes on their way.
#[derive(Debug, Default)]
pub(super) struct Icicle {
    /// The boxes so far.
    pub(super) boxes: Vec<FlameBox>,
    /// The place of the one that fills the width.
    pub(super) zoom: usize,
    /// Whether rows are left out.
    pub(super) is_cut: bool,
    /// How many bytes lie to the left of each box, from the zoomed one on.
    left: Vec<u64>,
    /// The box whose children come next, as far as they were looked at.
    next: usize,
    below: Option<Below>,
    width_px: u32,
}

impl Icicle {
    /// Begins with the way from the root to `zoom`, each as wide as the picture.
    pub(super) fn new(nodes: &dyn Nodes, zoom: u32, width_px: u32) -> Icicle {
        let mut way = vec![zoom];
        while let Some(above) = way.last().and_then(|&node| nodes.above(node)) {
            // A way as long as this leaves no room for boxes below; its lower half is the part that is seen.
            if way.len() >= MOST_BOXES / 2 {
                way.push(0);
                break;
            }
            way.push(above);
        }
        let of = |(row, &node): (u32, &u32)| FlameBox {
            row,
            parent: row.saturating_sub(1),
            x: [0, width_px],
            ..new_box(nodes, node)
        };
        let boxes: Vec<FlameBox> = (0..).zip(way.iter().rev()).map(of).collect();
        let zoom = boxes.len() - 1;
        Icicle { boxes, zoom, is_cut: false, left: vec![0], next: zoom, below: None, width_px }
    }

    /// Puts boxes below boxes.
    pub(super) fn step(&mut self, nodes: &dyn Nodes, slice: &mut Slice) -> Sliced {
        while let Some(&parent) = self.boxes.get(self.next) {
            if self.boxes.len() >= MOST_BOXES {
                self.is_cut = true;
                break;
            }
            if parent.nodes == 1 {
                self.split(nodes, &parent, slice)?;
            }
            self.next += 1;
            slice.check()?;
        }
        Ok(())
    }

    /// Puts the boxes of what is right below `parent`.
    fn split(&mut self, nodes: &dyn Nodes, parent: &FlameBox, slice: &mut Slice) -> Sliced {
        let (whole, width) = (self.whole(), u128::from(self.width_px));
        let new = || Below { node: nodes.first_below(parent.node), ..Below::default() };
        let Below { node: next, wide, narrow, heaviest } = self.below.get_or_insert_with(new);
        while let Some(node) = *next {
            slice.spend(2)?;
            *next = nodes.beside(node);
            let child = new_box(nodes, node);
            let bytes = child.weight.bytes;
            if u128::from(bytes) * width >= u128::from(whole) && whole > 0 {
                wide.push(child);
            } else if child.weight.count > 0 {
                narrow.weight.bytes = narrow.weight.bytes.saturating_add(bytes);
                narrow.weight.count = narrow.weight.count.saturating_add(child.weight.count);
                narrow.found = narrow.found.saturating_add(child.found);
                if narrow.nodes == 0 || bytes > *heaviest {
                    (narrow.node, *heaviest) = (node, bytes);
                }
                narrow.nodes += 1;
            }
        }
        let Below { wide, narrow, .. } = self.below.take().unwrap_or_default();
        let wide = sorted_by_key(wide, |child| pair(!child.weight.bytes, child.node.into()));
        let mut left = self.left.get(self.next - self.zoom).copied().unwrap_or(0);
        for child in wide.into_iter().chain([narrow]) {
            let right = left.saturating_add(child.weight.bytes);
            let x = [left, right].map(|bytes| self.edge(bytes));
            if x[0] < x[1] {
                self.boxes.push(FlameBox { parent: self.next as u32, row: parent.row + 1, x, ..child });
                self.left.push(left);
            }
            left = right;
        }
        Ok(())
    }

    /// Bytes of the box that fills the width.
    fn whole(&self) -> u64 {
        self.boxes.get(self.zoom).map_or(0, |zoom| zoom.weight.bytes)
    }

    /// Where that many bytes from the left end: rounded down.
    fn edge(&self, bytes: u64) -> u32 {
        let whole = u128::from(self.whole().max(1));
        (u128::from(bytes) * u128::from(self.width_px) / whole).min(self.width_px.into()) as u32
    }
}

fn new_box(nodes: &dyn Nodes, node: u32) -> FlameBox {
    FlameBox { node, nodes: 1, weight: nodes.weight(node), found: nodes.found(node), ..FlameBox::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A tree by parents: node 0 is the root, the parent of another stands before it.
    struct Made {
        parents: Vec<u32>,
        weights: Vec<Weight>,
    }

    impl Made {
        /// `rows`: of each node but the root its parent (modulo those before it), and its own bytes.
        fn new(rows: &[(u32, u64)]) -> Made {
            let mut parents = vec![0];
            let mut weights = vec![Weight::default()];
            for (node, &(parent, bytes)) in (1..).zip(rows) {
                parents.push(parent % node);
                weights.push(Weight { bytes, count: 1 });
            }
            for node in (1..parents.len()).rev() {
                let below = weights[node];
                let parent = &mut weights[parents[node] as usize];
                (parent.bytes, parent.count) = (parent.bytes + below.bytes, parent.count + below.count);
            }
            Made { parents, weights }
        }
    }

    impl Nodes for Made {
        fn above(&self, node: u32) -> Option<u32> {
            (node > 0).then(|| self.parents.get(node as usize).copied()).flatten()
        }

        fn first_below(&self, node: u32) -> Option<u32> {
            (1..self.parents.len() as u32).find(|&other| self.parents[other as usize] == node)
        }

        fn beside(&self, node: u32) -> Option<u32> {
            let parent = self.parents[node as usize];
            (node + 1..self.parents.len() as u32).find(|&other| self.parents[other as usize] == parent)
        }

        fn weight(&self, node: u32) -> Weight {
            self.weights[node as usize]
        }

        fn found(&self, node: u32) -> u64 {
            self.weights[node as usize].bytes / 3
        }
    }

    fn drawn(tree: &Made, zoom: u32, width_px: u32) -> Icicle {
        let mut icicle = Icicle::new(tree, zoom, width_px);
        // Slices of one box each.
        while icicle.step(tree, &mut Slice::new(&mut || false)).is_err() {}
        icicle
    }

    proptest! {
        #[test]
        fn boxes_lie_in_their_parents_and_beside_each_other_and_lose_nothing(
            rows in prop::collection::vec((any::<u32>(), prop_oneof![0u64..4, 0u64..5000, any::<u64>().prop_map(|it| it >> 12)]), 1..80),
            zoom in any::<prop::sample::Index>(),
            width_px in 1u32..300,
        ) {
            let tree = Made::new(&rows);
            let zoom = zoom.index(tree.parents.len()) as u32;
            let icicle = drawn(&tree, zoom, width_px);
            prop_assert!(!icicle.is_cut);
            let boxes = &icicle.boxes;
            prop_assert_eq!(boxes[icicle.zoom].node, zoom);
            let whole = tree.weight(zoom).bytes;
            for (place, it) in (0u32..).zip(boxes) {
                prop_assert!(it.x[0] < it.x[1] && it.x[1] <= width_px);
                let parent = boxes[it.parent as usize];
                prop_assert!(parent.x[0] <= it.x[0] && it.x[1] <= parent.x[1]);
                if place > 0 {
                    prop_assert_eq!((it.row, parent.nodes), (parent.row + 1, 1));
                    prop_assert!(it.parent < place);
                    prop_assert_eq!(tree.above(it.node), Some(parent.node));
                }
                if it.nodes == 1 {
                    prop_assert_eq!((it.weight, it.found), (tree.weight(it.node), tree.found(it.node)));
                }
                // Never more than a pixel off.
                if whole > 0 && place as usize >= icicle.zoom {
                    let exact = it.weight.bytes as f64 * f64::from(width_px) / whole as f64;
                    prop_assert!((f64::from(it.x[1] - it.x[0]) - exact).abs() <= 1.0 + 1e-6);
                }
            }
            for pair in boxes.windows(2).filter(|pair| pair[0].row == pair[1].row) {
                prop_assert!(pair[0].x[1] <= pair[1].x[0], "overlap");
            }
            // From the zoomed one on, the children of each: heaviest first, together all that is below it but for what is under a pixel.
            for (place, parent) in (0u32..).zip(boxes).skip(icicle.zoom).filter(|(_, parent)| parent.nodes == 1) {
                let children: Vec<&FlameBox> =
                    boxes.iter().skip(icicle.zoom + 1).filter(|it| it.parent == place).collect();
                prop_assert!(children.iter().filter(|it| it.nodes == 1).is_sorted_by_key(|it| std::cmp::Reverse(it.weight.bytes)));
                let below = std::iter::successors(tree.first_below(parent.node), |&node| tree.beside(node));
                let below: Vec<Weight> = below.map(|node| tree.weight(node)).collect();
                let exact: u64 = below.iter().map(|weight| weight.bytes).sum();
                let shown: u64 = children.iter().map(|it| it.weight.bytes).sum();
                let missing = u128::from(exact - shown);
                prop_assert!(missing * u128::from(width_px) <= u128::from(whole), "more than a pixel is missing");
                if missing == 0 && whole > 0 {
                    let counted: u32 = children.iter().map(|it| it.weight.count).sum();
                    let weightless: u32 = below.iter().filter(|it| it.bytes == 0).map(|it| it.count).sum();
                    let all: u32 = below.iter().map(|weight| weight.count).sum();
                    prop_assert!(counted == all || counted == all - weightless);
                }
            }
        }
    }

    #[test]
    fn the_heaviest_stands_left_and_thin_ones_are_one_box() {
        // Below the root: 50, 30 and twenty of 1.
        let mut rows = vec![(0, 30), (0, 50)];
        rows.extend((0..20).map(|_| (0, 1)));
        let icicle = drawn(&Made::new(&rows), 0, 50);
        let seen: Vec<_> = icicle.boxes.iter().map(|it| (it.node, it.nodes, it.x, it.weight.bytes)).collect();
        assert_eq!(seen, [(0, 1, [0, 50], 100), (2, 1, [0, 25], 50), (1, 1, [25, 40], 30), (3, 20, [40, 50], 20)]);
    }

    #[test]
    fn a_zoomed_node_without_bytes_has_its_way_and_nothing_below() {
        let tree = Made::new(&[(0, 7), (0, 0), (2, 0)]);
        let seen: Vec<u32> = drawn(&tree, 3, 10).boxes.iter().map(|it| it.node).collect();
        assert_eq!(seen, [0, 2, 3]);
        assert_eq!(drawn(&tree, 2, 10).boxes.len(), 2);
    }

    #[test]
    fn a_chain_deeper_than_all_boxes_is_cut_and_says_so() {
        struct Chain;
        impl Nodes for Chain {
            fn above(&self, node: u32) -> Option<u32> {
                node.checked_sub(1)
            }
            fn first_below(&self, node: u32) -> Option<u32> {
                Some(node + 1)
            }
            fn beside(&self, _: u32) -> Option<u32> {
                None
            }
            fn weight(&self, _: u32) -> Weight {
                Weight { bytes: u64::MAX, count: u32::MAX }
            }
            fn found(&self, _: u32) -> u64 {
                0
            }
        }
        let mut icicle = Icicle::new(&Chain, 900_000, u32::MAX);
        icicle.step(&Chain, &mut Slice::new(&mut || true)).unwrap();
        assert!(icicle.is_cut && icicle.boxes.len() == MOST_BOXES);
        let zoom = icicle.boxes[icicle.zoom];
        assert_eq!((zoom.node, icicle.boxes[0].node, zoom.row as usize), (900_000, 0, icicle.zoom));
        assert_eq!(icicle.boxes.last().unwrap().x, [0, u32::MAX]);
    }
}
