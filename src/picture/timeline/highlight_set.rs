//! A tree of bits over the live leaves that are highlighted, for fast range queries.
//!
//! Each band needs one query per column and may cover half of all leaves, so scanning the leaves of every band would be
//! too slow.

use std::ops::Range;

/// Number of bits per word, as an exponent of two.
const WORD_BITS: u32 = 6;

/// Set of the live leaves that are highlighted. `levels[0]` has a bit per leaf. Each higher level has a bit per word of
/// the level below, which is set if the word is not 0.
#[derive(Clone, Debug, Default)]
pub(super) struct HighlightSet {
    levels: Vec<Vec<u64>>,
}

impl HighlightSet {
    /// Creates an empty set with room for `leaves` leaves.
    pub(super) fn new(leaves: usize) -> HighlightSet {
        let mut levels = Vec::new();
        let mut words = leaves;
        while levels.is_empty() || words > 1 {
            words = words.div_ceil(1 << WORD_BITS).max(1);
            levels.push(vec![0; words]);
        }
        HighlightSet { levels }
    }

    /// Adds a leaf.
    pub(super) fn insert(&mut self, leaf: u32) {
        let mut index = leaf;
        for level in &mut self.levels {
            let Some(word) = level.get_mut((index >> WORD_BITS) as usize) else { return };
            *word |= bit(index);
            index >>= WORD_BITS;
        }
    }

    pub(super) fn remove(&mut self, leaf: u32) {
        let mut index = leaf;
        for level in &mut self.levels {
            let Some(word) = level.get_mut((index >> WORD_BITS) as usize) else { return };
            *word &= !bit(index);
            if *word != 0 {
                return;
            }
            index >>= WORD_BITS;
        }
    }

    /// Returns true if any of these leaves is in the set.
    pub(super) fn any_in(&self, leaves: Range<u64>) -> bool {
        self.first_from(leaves.start).is_some_and(|leaf| leaf < leaves.end)
    }

    /// Returns the first leaf in the set that is at or after `from`.
    fn first_from(&self, from: u64) -> Option<u64> {
        let mut index = from;
        for (height, level) in self.levels.iter().enumerate() {
            // Beyond the last word all levels are empty.
            let word = level.get(usize::try_from(index >> WORD_BITS).ok()?)?;
            let rest = word & (u64::MAX << (index % 64));
            if rest != 0 {
                let found = (index & !63) + u64::from(rest.trailing_zeros());
                return self.levels.iter().take(height).rev().try_fold(found, |index, below| {
                    let word = below.get(usize::try_from(index).ok()?)?;
                    Some((index << WORD_BITS) + u64::from(word.trailing_zeros()))
                });
            }
            index = (index >> WORD_BITS) + 1;
        }
        None
    }
}

fn bit(index: u32) -> u64 {
    1 << (index % 64)
}

#[cfg(test)]
#[path = "../../../tests/units/picture/timeline/highlight_set.rs"]
mod tests;
