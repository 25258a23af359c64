//! Unit tests of `src/engine/report/top_k.rs`.

use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn heaviest_rows_equal_start_of_sorted_list(keys in prop::collection::vec(0u128..40, 0..900), most in 0usize..30) {
        let mut heaviest = TopK::new(most);
        (0..).zip(&keys).for_each(|(number, &key)| heaviest.add(key, number));
        let mut all: Vec<u32> = (0..keys.len() as u32).collect();
        all.sort_by_key(|&number| !keys[number as usize]);
        all.truncate(most);
        prop_assert_eq!(heaviest.ranked(), all);
    }
}
