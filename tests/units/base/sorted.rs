//! Tests of `src/base/sorted.rs`, a module of its: they reach what is private there.

use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn it_is_the_stable_sort(items in prop::collection::vec((-3i64..3, 0u64..3, any::<u8>()), 0..60)) {
        let mut expected = items.clone();
        expected.sort_by_key(|&(first, second, _)| (first, second));
        prop_assert_eq!(sorted_by_key(items, |&(first, second, _)| pair(ascending(first), second)), expected);
    }
}
