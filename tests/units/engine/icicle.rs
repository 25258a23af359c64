//! Unit tests of `src/engine/icicle.rs`.

use super::*;
use proptest::prelude::*;

/// Tree given by the parent of each node. Node 0 is the root, and parents precede their children.
struct TestTree {
    parents: Vec<u32>,
    weights: Vec<Weight>,
}

impl TestTree {
    /// Builds a tree. Each row is a node's parent (modulo the number of nodes before it) and its own bytes.
    fn new(rows: &[(u32, u64)]) -> TestTree {
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
        TestTree { parents, weights }
    }
}

impl TreeNodes for TestTree {
    fn parent(&self, node: u32) -> Option<u32> {
        (node > 0).then(|| self.parents.get(node as usize).copied()).flatten()
    }

    fn first_child(&self, node: u32) -> Option<u32> {
        (1..self.parents.len() as u32).find(|&other| self.parents[other as usize] == node)
    }

    fn next_sibling(&self, node: u32) -> Option<u32> {
        let parent = self.parents[node as usize];
        (node + 1..self.parents.len() as u32).find(|&other| self.parents[other as usize] == parent)
    }

    fn weight(&self, node: u32) -> Weight {
        self.weights[node as usize]
    }

    fn ends(&self, _: u32) -> Ends {
        Ends::default()
    }

    fn found(&self, node: u32) -> u64 {
        self.weights[node as usize].bytes / 3
    }
}

fn drawn(tree: &TestTree, zoom: u32, width_px: u32) -> Icicle {
    let mut icicle = Icicle::new(tree, zoom, width_px);
    // Each slice draws one box.
    while icicle.step(tree, &mut TimeSlice::new(&mut || false)).is_err() {}
    icicle
}

proptest! {
    #[test]
    fn boxes_lie_within_parents_without_overlap(
        rows in prop::collection::vec((any::<u32>(), prop_oneof![0u64..4, 0u64..5000, any::<u64>().prop_map(|it| it >> 12)]), 1..80),
        zoom in any::<prop::sample::Index>(),
        width_px in 1u32..300,
    ) {
        let tree = TestTree::new(&rows);
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
                prop_assert_eq!((it.row, parent.node_count), (parent.row + 1, 1));
                prop_assert!(it.parent < place);
                prop_assert_eq!(tree.parent(it.node), Some(parent.node));
            }
            if it.node_count == 1 {
                prop_assert_eq!((it.weight, it.found), (tree.weight(it.node), tree.found(it.node)));
            }
            // The width is at most one pixel off.
            if whole > 0 && place as usize >= icicle.zoom {
                let exact = it.weight.bytes as f64 * f64::from(width_px) / whole as f64;
                prop_assert!((f64::from(it.x[1] - it.x[0]) - exact).abs() <= 1.0 + 1e-6);
            }
        }
        for pair in boxes.windows(2).filter(|pair| pair[0].row == pair[1].row) {
            prop_assert!(pair[0].x[1] <= pair[1].x[0], "overlap");
        }
        // From the zoomed box on, children are sorted by weight and add up to their node, except for boxes below a
        // pixel.
        for (place, parent) in (0u32..).zip(boxes).skip(icicle.zoom).filter(|(_, parent)| parent.node_count == 1) {
            let children: Vec<&FlameBox> =
                boxes.iter().skip(icicle.zoom + 1).filter(|it| it.parent == place).collect();
            prop_assert!(children.iter().filter(|it| it.node_count == 1).is_sorted_by_key(|it| std::cmp::Reverse(it.weight.bytes)));
            let below = std::iter::successors(tree.first_child(parent.node), |&node| tree.next_sibling(node));
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
fn boxes_are_sorted_by_weight_and_thin_ones_merged() {
    // Children of the root: 50, 30, and twenty of weight 1.
    let mut rows = vec![(0, 30), (0, 50)];
    rows.extend((0..20).map(|_| (0, 1)));
    let icicle = drawn(&TestTree::new(&rows), 0, 50);
    let seen: Vec<_> = icicle.boxes.iter().map(|it| (it.node, it.node_count, it.x, it.weight.bytes)).collect();
    assert_eq!(seen, [(0, 1, [0, 50], 100), (2, 1, [0, 25], 50), (1, 1, [25, 40], 30), (3, 20, [40, 50], 20)]);
}

#[test]
fn zoomed_node_without_bytes_shows_only_its_ancestors() {
    let tree = TestTree::new(&[(0, 7), (0, 0), (2, 0)]);
    let seen: Vec<u32> = drawn(&tree, 3, 10).boxes.iter().map(|it| it.node).collect();
    assert_eq!(seen, [0, 2, 3]);
    assert_eq!(drawn(&tree, 2, 10).boxes.len(), 2);
}

#[test]
fn too_deep_chain_is_cut() {
    struct Chain;
    impl TreeNodes for Chain {
        fn parent(&self, node: u32) -> Option<u32> {
            node.checked_sub(1)
        }
        fn first_child(&self, node: u32) -> Option<u32> {
            Some(node + 1)
        }
        fn next_sibling(&self, _: u32) -> Option<u32> {
            None
        }
        fn weight(&self, _: u32) -> Weight {
            Weight { bytes: u64::MAX, count: u32::MAX }
        }
        fn ends(&self, _: u32) -> Ends {
            Ends::default()
        }

        fn found(&self, _: u32) -> u64 {
            0
        }
    }
    let mut icicle = Icicle::new(&Chain, 900_000, u32::MAX);
    icicle.step(&Chain, &mut TimeSlice::new(&mut || true)).unwrap();
    assert!(icicle.is_cut && icicle.boxes.len() == MAX_BOXES);
    let zoom = icicle.boxes[icicle.zoom];
    assert_eq!((zoom.node, icicle.boxes[0].node, zoom.row as usize), (900_000, 0, icicle.zoom));
    assert_eq!(icicle.boxes.last().unwrap().x, [0, u32::MAX]);
}
