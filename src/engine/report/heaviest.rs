//! The few largest of many numbers, without keeping all of them.

use base::sorted::{sort, sorted_numbers};

/// The numbers with the largest keys; of equal keys the lower numbers.
pub(super) struct Heaviest {
    kept: Vec<(u128, u32)>,
    most: usize,
    /// Keys that are not below this can't be among them, once so many are known.
    bound: Option<u128>,
}

impl Heaviest {
    /// Keeps so many.
    pub(super) fn new(most: usize) -> Heaviest {
        Heaviest { kept: Vec::new(), most, bound: None }
    }

    /// Another number, higher than those before.
    pub(super) fn add(&mut self, key: u128, number: u32) {
        if self.bound.is_some_and(|bound| !key >= bound) {
            return;
        }
        self.kept.push((!key, number));
        if self.kept.len() >= 2 * self.most + 64 {
            sort(&mut self.kept);
            self.kept.truncate(self.most);
            // What comes later with the last one's key has a higher number: numbers are added in ascending order.
            self.bound = self.kept.last().map(|&(key, _)| key);
        }
    }

    /// The numbers, those with the largest keys first.
    pub(super) fn ranked(self) -> Vec<u32> {
        let mut ranked = sorted_numbers(self.kept);
        ranked.truncate(self.most);
        ranked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_are_the_first_of_all_sorted(keys in prop::collection::vec(0u128..40, 0..900), most in 0usize..30) {
            let mut heaviest = Heaviest::new(most);
            (0..).zip(&keys).for_each(|(number, &key)| heaviest.add(key, number));
            let mut all: Vec<u32> = (0..keys.len() as u32).collect();
            all.sort_by_key(|&number| !keys[number as usize]);
            all.truncate(most);
            prop_assert_eq!(heaviest.ranked(), all);
        }
    }
}
