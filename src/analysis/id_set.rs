//! A bit set of ids, such as the ids of allocations, frames or stacks that match a search.

/// A set of ids below a fixed bound.
#[derive(Clone, Debug, Default)]
pub struct IdSet {
    words: Vec<u64>,
    count: u32,
}

base::heap_bytes!(IdSet: words);

impl IdSet {
    /// Creates an empty set for ids less than `end`.
    pub fn with_bound(end: usize) -> IdSet {
        IdSet { words: vec![0; end.div_ceil(64)], count: 0 }
    }

    /// Creates a set from its bits, packed into words. The lowest bit of the first word stands for id 0.
    pub fn from_words(words: Vec<u64>) -> IdSet {
        let count = words.iter().map(|word| word.count_ones()).sum();
        IdSet { words, count }
    }

    /// Adds an id. Ids at or above the set's bound are ignored.
    pub fn insert(&mut self, id: u32) {
        if let Some(word) = self.words.get_mut(id as usize / 64) {
            let bit = 1 << (id % 64);
            self.count += u32::from(*word & bit == 0);
            *word |= bit;
        }
    }

    /// Returns true if the set contains the id.
    #[inline(always)]
    pub fn contains(&self, id: u32) -> bool {
        self.words.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 == 1)
    }

    /// Returns the number of ids in the set.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the smallest id in the set that is at least `from`.
    pub fn next_from(&self, from: u32) -> Option<u32> {
        let index = from as usize / 64;
        let first = self.words.get(index)? & (u64::MAX << (from % 64));
        if first != 0 {
            return Some(index as u32 * 64 + first.trailing_zeros());
        }
        let found = self.words.iter().skip(index + 1).position(|word| *word != 0)? + index + 1;
        Some(found as u32 * 64 + self.words.get(found)?.trailing_zeros())
    }

    /// Returns the largest id in the set that is less than `end`.
    pub fn last_below(&self, end: u32) -> Option<u32> {
        let index = end as usize / 64;
        let cut = self.words.get(index).map_or(0, |word| word & !(u64::MAX << (end % 64)));
        if cut != 0 {
            return Some(index as u32 * 64 + 63 - cut.leading_zeros());
        }
        let found = self.words.iter().take(index).rposition(|word| *word != 0)?;
        Some(found as u32 * 64 + 63 - self.words.get(found)?.leading_zeros())
    }

    /// Returns the number of ids in the set that are less than `id`.
    pub fn rank(&self, id: u32) -> u32 {
        let index = id as usize / 64;
        let whole: u32 = self.words.iter().take(index).map(|word| word.count_ones()).sum();
        whole + self.words.get(index).map_or(0, |word| (word & !(u64::MAX << (id % 64))).count_ones())
    }
}

#[cfg(test)]
#[path = "../../tests/units/analysis/id_set.rs"]
mod tests;
