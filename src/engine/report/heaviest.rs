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
#[path = "../../../tests/units/engine/report/heaviest.rs"]
mod tests;
