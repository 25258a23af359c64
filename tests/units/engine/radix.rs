//! Unit tests of `src/engine/radix.rs`.

use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn radix_sort_equals_stable_sort(keys in prop::collection::vec(prop_oneof![0u64..4, any::<u64>(), Just(u64::MAX)], 0..300), slice in 1usize..5) {
        let mut radix = Radix::default();
        keys.iter().zip(0..).for_each(|(&key, id)| radix.push(key, id));
        let mut asked = 0;
        while radix.step(&mut TimeSlice::new(&mut || { asked += 1; asked % slice != 0 })).is_err() {}
        let mut expected: Vec<u32> = (0..keys.len() as u32).collect();
        expected.sort_by_key(|&id| keys[id as usize]);
        prop_assert_eq!(radix.into_ids(), expected);
    }

    #[test]
    fn last_key_is_most_significant(keys in prop::collection::vec((0u64..4, 0u64..4), 0..100), slice in 1usize..5) {
        let mut sorting = MultiKeySort::new((0..keys.len() as u32).collect());
        let mut key = |part: usize, id: u32| [keys[id as usize].1, keys[id as usize].0][part];
        let mut asked = 0;
        while sorting.step((2, 300), &mut key, &mut TimeSlice::new(&mut || { asked += 1; asked % slice != 0 })).is_err() {}
        let mut expected: Vec<u32> = (0..keys.len() as u32).collect();
        expected.sort_by_key(|&id| keys[id as usize]);
        prop_assert_eq!(sorting.ids(), expected);
    }
}
