//! Unit tests of `src/analysis/id_set.rs`.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

proptest! {
    #[test]
    fn id_set_behaves_like_btree_set(end in 0u32..700, ids in prop::collection::vec(0u32..800, 0..60), probes in prop::collection::vec(0u32..900, 1..30)) {
        let mut set = IdSet::with_bound(end as usize);
        // Capacity is rounded up to whole 64-bit words.
        let plain: BTreeSet<u32> = ids.iter().copied().filter(|&id| id < end.div_ceil(64) * 64).collect();
        ids.iter().for_each(|&id| set.insert(id));
        prop_assert_eq!(set.count() as usize, plain.len());
        for probe in probes.into_iter().chain([0, u32::MAX]) {
            prop_assert_eq!(set.contains(probe), plain.contains(&probe));
            prop_assert_eq!(set.next_from(probe), plain.range(probe..).next().copied());
            prop_assert_eq!(set.last_below(probe), plain.range(..probe).next_back().copied());
            prop_assert_eq!(set.rank(probe) as usize, plain.range(..probe).count());
        }
    }
}
