//! Unit tests of `src/picture/timeline/highlight_set.rs`.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

proptest! {
    #[test]
    fn range_query_finds_inserted_leaves(
        leaves in 1u32..10_000,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..60),
        ranges in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..20),
    ) {
        let (mut set, mut plain) = (HighlightSet::new(leaves as usize), BTreeSet::new());
        for (leaf, comes) in changes {
            let leaf = leaf.index(leaves as usize) as u32;
            if comes { set.insert(leaf) } else { set.remove(leaf) }
            if comes { plain.insert(leaf); } else { plain.remove(&leaf); }
        }
        for (from, to) in ranges {
            let (from, to) = (from.index(leaves as usize + 1) as u32, to.index(leaves as usize + 100) as u32);
            let expected = from < to && plain.range(from..to).next().is_some();
            prop_assert_eq!(set.any_in(u64::from(from)..u64::from(to)), expected, "{}..{}", from, to);
        }
    }
}
