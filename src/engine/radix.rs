//! Stable LSD radix sort of ids by 64-bit keys, in time slices.

use base::slice::{SliceResult, TimeSlice};
use std::ops::Range;

/// Number of bits per digit.
const DIGIT_BITS: u32 = 8;
const DIGIT_VALUES: usize = 1 << DIGIT_BITS;

/// A radix sort in progress.
#[derive(Default)]
pub(super) struct Radix {
    keys: Vec<u64>,
    ids: Vec<u32>,
    to_keys: Vec<u64>,
    to_ids: Vec<u32>,
    /// Bits that are not the same in all keys. Digits without such bits are skipped.
    differing: u64,
    digit: u32,
    /// Number of occurrences of each digit value. After counting, the target index of the next id with this value.
    counts: Vec<u32>,
    next: usize,
    counted: bool,
}

base::heap_bytes!(Radix: keys, to_keys, ids, to_ids);

impl Radix {
    /// Creates an empty sort with capacity for `count` ids. Without it, a growing vector would copy all ids within one
    /// time slice.
    pub(super) fn with_capacity(count: usize) -> Radix {
        Radix { keys: Vec::with_capacity(count), ids: Vec::with_capacity(count), ..Radix::default() }
    }

    /// Appends an id. Must not be called after [`Radix::step`].
    pub(super) fn push(&mut self, key: u64, id: u32) {
        self.differing |= key ^ self.keys.first().copied().unwrap_or(key);
        self.keys.push(key);
        self.ids.push(id);
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn step(&mut self, slice: &mut TimeSlice) -> SliceResult {
        let len = self.keys.len();
        while self.digit < u64::BITS / DIGIT_BITS {
            let shift = self.digit * DIGIT_BITS;
            if self.differing >> shift & (DIGIT_VALUES as u64 - 1) == 0 {
                self.digit += 1;
                continue;
            }
            while let Some(rows) = slice.next_range(&mut self.next, len, 1)? {
                self.count_or_move(rows, shift);
            }
            self.next = 0;
            if self.counted {
                std::mem::swap(&mut self.keys, &mut self.to_keys);
                std::mem::swap(&mut self.ids, &mut self.to_ids);
                self.digit += 1;
            } else {
                let mut before = 0;
                for count in &mut self.counts {
                    before += std::mem::replace(count, before);
                }
            }
            self.counted = !self.counted;
        }
        Ok(())
    }

    /// Processes the digit at bit `shift` for the given rows. The first pass counts the digit values, and the second
    /// pass moves the ids.
    fn count_or_move(&mut self, rows: Range<usize>, shift: u32) {
        let len = self.keys.len();
        if self.counted {
            for (key, id) in
                self.keys.get(rows.clone()).into_iter().flatten().zip(self.ids.get(rows).into_iter().flatten())
            {
                let digit = (key >> shift) as usize % DIGIT_VALUES;
                let Some(target) = self.counts.get_mut(digit) else { continue };
                if let (Some(to_key), Some(to_id)) =
                    (self.to_keys.get_mut(*target as usize), self.to_ids.get_mut(*target as usize))
                {
                    (*to_key, *to_id) = (*key, *id);
                }
                *target += 1;
            }
        } else {
            if rows.start == 0 {
                self.counts = vec![0; DIGIT_VALUES];
                self.to_keys.reserve_exact(len - self.to_keys.len());
                self.to_ids.reserve_exact(len - self.to_ids.len());
            }
            if self.to_keys.len() < rows.end {
                self.to_keys.resize(rows.end, 0);
                self.to_ids.resize(rows.end, 0);
            }
            for key in self.keys.get(rows).into_iter().flatten() {
                if let Some(count) = self.counts.get_mut((key >> shift) as usize % DIGIT_VALUES) {
                    *count += 1;
                }
            }
        }
    }

    /// Returns the ids, which are in key order once [`Radix::step`] has finished.
    pub(super) fn into_ids(self) -> Vec<u32> {
        self.ids
    }
}

/// Time-sliced sort of ids by several keys.
#[derive(Default)]
pub(super) struct MultiKeySort {
    radix: Radix,
    /// Index of the current key. The least significant key has index 0.
    key_index: usize,
    /// Ids, sorted by all keys with an index below `key_index`.
    ids: Vec<u32>,
}

base::heap_bytes!(MultiKeySort: radix, ids);

impl MultiKeySort {
    /// Creates a sort of these ids. Ids with equal keys stay in the given order.
    pub(super) fn new(ids: Vec<u32>) -> MultiKeySort {
        MultiKeySort { ids, ..MultiKeySort::default() }
    }

    /// Continues sorting by `parts` keys. Key 0 is the least significant. `key` returns a key for its index and an id,
    /// which costs `steps` steps of the time slice.
    pub(super) fn step(
        &mut self,
        (parts, steps): (usize, u32),
        key: &mut dyn FnMut(usize, u32) -> u64,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        while self.key_index < parts {
            if self.radix.len() == 0 {
                self.radix = Radix::with_capacity(self.ids.len());
            }
            let mut next = self.radix.len();
            while let Some(part) = slice.next_range(&mut next, self.ids.len(), steps)? {
                for &id in self.ids.get(part).unwrap_or_default() {
                    self.radix.push(key(self.key_index, id), id);
                }
            }
            self.radix.step(slice)?;
            self.ids = std::mem::take(&mut self.radix).into_ids();
            self.key_index += 1;
        }
        Ok(())
    }

    /// Returns the ids, which are sorted once [`MultiKeySort::step`] has finished.
    pub(super) fn ids(&self) -> &[u32] {
        &self.ids
    }
}

#[cfg(test)]
#[path = "../../tests/units/engine/radix.rs"]
mod tests;
