//! A tree of bits over the live leaves that are highlighted, for fast range queries.
//!
//! A band asks once per column and may cover half of all leaves. Scanning the highlighted ones for every band would be
//! too slow.

use std::ops::Range;

/// Bits per word, as a power of two.
const WORD_BITS: u32 = 6;

/// Set of live highlighted leaves. `levels[0]` has a bit per leaf. A bit of the next level is set if the word below is
/// not 0.
#[derive(Clone, Debug, Default)]
pub(super) struct HighlightSet {
    levels: Vec<Vec<u64>>,
}

impl HighlightSet {
    /// Creates an empty set for this many leaves.
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
        let mut at = leaf;
        for level in &mut self.levels {
            let Some(word) = level.get_mut((at >> WORD_BITS) as usize) else { return };
            *word |= bit(at);
            at >>= WORD_BITS;
        }
    }

    /// Removes a leaf.
    pub(super) fn remove(&mut self, leaf: u32) {
        let mut at = leaf;
        for level in &mut self.levels {
            let Some(word) = level.get_mut((at >> WORD_BITS) as usize) else { return };
            *word &= !bit(at);
            if *word != 0 {
                return;
            }
            at >>= WORD_BITS;
        }
    }

    /// Returns true if any of these leaves is set.
    pub(super) fn any_in(&self, leaves: Range<u64>) -> bool {
        self.first_from(leaves.start).is_some_and(|leaf| leaf < leaves.end)
    }

    /// Returns the first set leaf at or after `from`.
    fn first_from(&self, from: u64) -> Option<u64> {
        let mut at = from;
        for (height, level) in self.levels.iter().enumerate() {
            // Beyond the last word all levels are empty.
            let word = level.get(usize::try_from(at >> WORD_BITS).ok()?)?;
            let rest = word & (u64::MAX << (at % 64));
            if rest != 0 {
                let found = (at & !63) + u64::from(rest.trailing_zeros());
                return self.levels.iter().take(height).rev().try_fold(found, |at, below| {
                    let word = below.get(usize::try_from(at).ok()?)?;
                    Some((at << WORD_BITS) + u64::from(word.trailing_zeros()))
                });
            }
            at = (at >> WORD_BITS) + 1;
        }
        None
    }
}

fn bit(at: u32) -> u64 {
    1 << (at % 64)
}

#[cfg(test)]
#[path = "../../../tests/units/picture/timeline/standing.rs"]
mod tests;
