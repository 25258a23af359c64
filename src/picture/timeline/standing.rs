//! Which live leaves stand out, in a tree of bits: is there one in a range?
//!
//! A band asks this once a column, and may cover half of all leaves: looking through those that stand out somewhere in the window
//! would cost their number for every band.

use std::ops::Range;

/// Bits of a word, as a power of two.
const WORD_BITS: u32 = 6;

/// The live leaves that stand out. `levels[0]` has a bit a leaf; a bit of the next level says that a word below is not 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Standing {
    levels: Vec<Vec<u64>>,
}

impl Standing {
    /// Room for this many leaves, none of them set.
    pub(super) fn new(leaves: usize) -> Standing {
        let mut levels = Vec::new();
        let mut words = leaves;
        while levels.is_empty() || words > 1 {
            words = words.div_ceil(1 << WORD_BITS).max(1);
            levels.push(vec![0; words]);
        }
        Standing { levels }
    }

    /// A leaf that stands out becomes live.
    pub(super) fn insert(&mut self, leaf: u32) {
        let mut at = leaf;
        for level in &mut self.levels {
            let Some(word) = level.get_mut((at >> WORD_BITS) as usize) else { return };
            *word |= bit(at);
            at >>= WORD_BITS;
        }
    }

    /// A leaf is no longer live.
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

    /// Whether one of these leaves is set.
    pub(super) fn any_in(&self, leaves: Range<u64>) -> bool {
        self.first_from(leaves.start).is_some_and(|leaf| leaf < leaves.end)
    }

    /// The first set leaf that is not below `from`.
    fn first_from(&self, from: u64) -> Option<u64> {
        let mut at = from;
        for (height, level) in self.levels.iter().enumerate() {
            // Beyond the last word there is nothing, on any level.
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
