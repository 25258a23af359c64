//! Unit tests of `src/base/sorted.rs`.

use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn sorted_by_key_equals_stable_sort(items in prop::collection::vec((-3i64..3, 0u64..3, any::<u8>()), 0..60)) {
        let mut expected = items.clone();
        expected.sort_by_key(|&(first, second, _)| (first, second));
        prop_assert_eq!(sorted_by_key(items, |&(first, second, _)| two_part_key(signed_key(first), second)), expected);
    }
}
