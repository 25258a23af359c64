//! Selection of the items with the largest keys, in bounded memory.

use base::sorted::{sort, sorted_numbers};

/// The `limit` numbers with the largest keys. If keys are equal, lower numbers are preferred.
pub(super) struct TopK {
    kept: Vec<(u128, u32)>,
    limit: usize,
    /// Inverted key of the last item in `kept`, after `kept` was first truncated to `limit`. Items with an equal or
    /// larger inverted key are dropped.
    bound: Option<u128>,
}

impl TopK {
    /// Creates a selection of at most `limit` numbers.
    pub(super) fn new(limit: usize) -> TopK {
        TopK { kept: Vec::new(), limit, bound: None }
    }

    /// Adds a number and its key. Numbers must be added in ascending order.
    pub(super) fn add(&mut self, key: u128, number: u32) {
        if self.bound.is_some_and(|bound| !key >= bound) {
            return;
        }
        self.kept.push((!key, number));
        if self.kept.len() >= 2 * self.limit + 64 {
            sort(&mut self.kept);
            self.kept.truncate(self.limit);
            // A later entry with the same key has a higher number, so it loses.
            self.bound = self.kept.last().map(|&(key, _)| key);
        }
    }

    /// Returns the numbers, largest key first.
    pub(super) fn ranked(self) -> Vec<u32> {
        let mut ranked = sorted_numbers(self.kept);
        ranked.truncate(self.limit);
        ranked
    }
}

#[cfg(test)]
#[path = "../../../tests/units/engine/report/heaviest.rs"]
mod tests;
