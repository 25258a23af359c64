//! A set of ids, one bit each: allocations that a search found, frames and stacks that match.

/// A set of ids below a number given at the start.
#[derive(Clone, Debug, Default)]
pub struct IdSet {
    words: Vec<u64>,
    count: u32,
}

impl IdSet {
    /// Room for the ids below `end`, none of them in the set.
    pub fn below(end: usize) -> IdSet {
        IdSet { words: vec![0; end.div_ceil(64)], count: 0 }
    }

    /// The ids whose bits are set, the lowest first.
    pub fn of(words: Vec<u64>) -> IdSet {
        let count = words.iter().map(|word| word.count_ones()).sum();
        IdSet { words, count }
    }

    /// Puts an id in; one that is not below the set's end is dropped.
    pub fn insert(&mut self, id: u32) {
        if let Some(word) = self.words.get_mut(id as usize / 64) {
            let bit = 1 << (id % 64);
            self.count += u32::from(*word & bit == 0);
            *word |= bit;
        }
    }

    /// Whether an id is in it.
    #[inline(always)]
    pub fn contains(&self, id: u32) -> bool {
        self.words.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 == 1)
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The first that is not below `from`.
    pub fn next_from(&self, from: u32) -> Option<u32> {
        let at = from as usize / 64;
        let first = self.words.get(at)? & (u64::MAX << (from % 64));
        if first != 0 {
            return Some(at as u32 * 64 + first.trailing_zeros());
        }
        let found = self.words.iter().skip(at + 1).position(|word| *word != 0)? + at + 1;
        Some(found as u32 * 64 + self.words.get(found)?.trailing_zeros())
    }

    /// The last that is below `end`.
    pub fn last_below(&self, end: u32) -> Option<u32> {
        let at = end as usize / 64;
        let cut = self.words.get(at).map_or(0, |word| word & !(u64::MAX << (end % 64)));
        if cut != 0 {
            return Some(at as u32 * 64 + 63 - cut.leading_zeros());
        }
        let found = self.words.iter().take(at).rposition(|word| *word != 0)?;
        Some(found as u32 * 64 + 63 - self.words.get(found)?.leading_zeros())
    }

    /// How many are below `id`.
    pub fn rank(&self, id: u32) -> u32 {
        let at = id as usize / 64;
        let whole: u32 = self.words.iter().take(at).map(|word| word.count_ones()).sum();
        whole + self.words.get(at).map_or(0, |word| (word & !(u64::MAX << (id % 64))).count_ones())
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }
}

#[cfg(test)]
#[path = "../../tests/units/analysis/id_set.rs"]
mod tests;
