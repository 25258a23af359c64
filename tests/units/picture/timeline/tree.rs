//! Unit tests of `src/picture/timeline/tree.rs`.

use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn each_node_has_sum_of_its_leaves(
        leaves in 1usize..700,
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0u64..6), 0..300),
    ) {
        let mut tree = LiveTree::new(leaves);
        let mut plain = vec![0u64; leaves];
        for (leaf, bytes) in changes {
            let leaf = leaf.index(leaves);
            if std::mem::replace(&mut plain[leaf], bytes) > 0 {
                tree.remove(leaf as u32);
            }
            if bytes > 0 {
                tree.insert(leaf as u32, bytes);
            }
        }
        let mut places = vec![tree.root()];
        while let Some(place) = places.pop() {
            let end = (place.index as usize + 1) << (place.level * FAN_BITS);
            let range = place.first_leaf() as usize..end.min(leaves);
            let live: Vec<(usize, u64)> = range.map(|at| (at, plain[at])).filter(|leaf| leaf.1 > 0).collect();
            let found = tree.live(place);
            prop_assert_eq!(found.count as usize, live.len());
            prop_assert_eq!(found.bytes, live.iter().map(|leaf| leaf.1).sum::<u64>());
            if let (Some(first), Some(last)) = (live.first(), live.last()) {
                let largest = live.iter().rev().max_by_key(|leaf| leaf.1).unwrap();
                prop_assert_eq!((found.largest_leaf as usize, found.largest), *largest);
                prop_assert_eq!((tree.first_live(place) as usize, tree.last_live(place) as usize), (first.0, last.0));
            }
            if place.level > 0 {
                tree.for_each_child(place, |child, _| places.push(child));
            }
        }
    }
}
