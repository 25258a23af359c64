//! Unit tests of `src/history/replay/median.rs`.

use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn median_is_middle_of_sorted_values(mut values in prop::collection::vec(any::<i64>(), 1..200), shift in 0u32..60) {
        values.iter_mut().for_each(|value| *value >>= shift);
        let (min, max) = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
        let mut median = Median::new(min, max, values.len() as u64);
        let found = loop {
            values.iter().for_each(|&value| median.add(value));
            if let Some(found) = median.narrow() {
                break found;
            }
        };
        values.sort_unstable();
        prop_assert_eq!(found, values[(values.len() - 1) / 2]);
    }
}
