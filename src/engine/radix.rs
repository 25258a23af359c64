//! A stable sort of numbers by keys of 64 bits, in slices: one digit after the other, the least first.

use base::slice::{Slice, Sliced};
use std::ops::Range;

/// Bits of a digit.
const DIGIT: u32 = 8;
const DIGITS: usize = 1 << DIGIT;

/// What is to be sorted, and how far it is.
#[derive(Default)]
pub(super) struct Radix {
    keys: Vec<u64>,
    ids: Vec<u32>,
    to_keys: Vec<u64>,
    to_ids: Vec<u32>,
    /// Bits in which keys differ: digits without any are passed over.
    differing: u64,
    digit: u32,
    /// How often each value of the digit was counted; then where the next number of that value goes.
    counts: Vec<u32>,
    next: usize,
    counted: bool,
}

impl Radix {
    /// None yet, with room for `count`: growing would copy all of them in one go.
    pub(super) fn with_room(count: usize) -> Radix {
        Radix { keys: Vec::with_capacity(count), ids: Vec::with_capacity(count), ..Radix::default() }
    }

    /// Appends a number, before the sort begins.
    pub(super) fn push(&mut self, key: u64, id: u32) {
        self.differing |= key ^ self.keys.first().copied().unwrap_or(key);
        self.keys.push(key);
        self.ids.push(id);
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Sorts.
    pub(super) fn step(&mut self, slice: &mut Slice) -> Sliced {
        let len = self.keys.len();
        while self.digit < u64::BITS / DIGIT {
            let shift = self.digit * DIGIT;
            if self.differing >> shift & (DIGITS as u64 - 1) == 0 {
                self.digit += 1;
                continue;
            }
            while let Some(rows) = slice.part(&mut self.next, len, 1)? {
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

    /// The digit at `shift` of these rows: counts how often each value occurs, or then moves the numbers to their places.
    fn count_or_move(&mut self, rows: Range<usize>, shift: u32) {
        let len = self.keys.len();
        if self.counted {
            for (key, id) in
                self.keys.get(rows.clone()).into_iter().flatten().zip(self.ids.get(rows).into_iter().flatten())
            {
                let digit = (key >> shift) as usize % DIGITS;
                let Some(place) = self.counts.get_mut(digit) else { continue };
                if let (Some(to_key), Some(to_id)) =
                    (self.to_keys.get_mut(*place as usize), self.to_ids.get_mut(*place as usize))
                {
                    (*to_key, *to_id) = (*key, *id);
                }
                *place += 1;
            }
        } else {
            if rows.start == 0 {
                self.counts = vec![0; DIGITS];
                self.to_keys.reserve_exact(len - self.to_keys.len());
                self.to_ids.reserve_exact(len - self.to_ids.len());
            }
            if self.to_keys.len() < rows.end {
                self.to_keys.resize(rows.end, 0);
                self.to_ids.resize(rows.end, 0);
            }
            for key in self.keys.get(rows).into_iter().flatten() {
                if let Some(count) = self.counts.get_mut((key >> shift) as usize % DIGITS) {
                    *count += 1;
                }
            }
        }
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        (self.keys.capacity() + self.to_keys.capacity()) * size_of::<u64>()
            + (self.ids.capacity() + self.to_ids.capacity()) * size_of::<u32>()
    }

    /// The numbers, in the order of their keys once sorted.
    pub(super) fn into_ids(self) -> Vec<u32> {
        self.ids
    }
}

/// Numbers sorted by several keys, in slices.
#[derive(Default)]
pub(super) struct Sorting {
    radix: Radix,
    /// Which key comes next: the one that counts least comes first.
    part: usize,
    /// The numbers, sorted by the keys before that.
    ids: Vec<u32>,
}

impl Sorting {
    /// Of these, in the order in which equal ones stay.
    pub(super) fn of(ids: Vec<u32>) -> Sorting {
        Sorting { ids, ..Sorting::default() }
    }

    /// Sorts by so many keys. Key 0 counts least; each takes so many steps to make.
    pub(super) fn step(
        &mut self,
        (parts, steps): (usize, u32),
        key: &mut dyn FnMut(usize, u32) -> u64,
        slice: &mut Slice,
    ) -> Sliced {
        while self.part < parts {
            if self.radix.len() == 0 {
                self.radix = Radix::with_room(self.ids.len());
            }
            let mut next = self.radix.len();
            while let Some(part) = slice.part(&mut next, self.ids.len(), steps)? {
                for &id in self.ids.get(part).unwrap_or_default() {
                    self.radix.push(key(self.part, id), id);
                }
            }
            self.radix.step(slice)?;
            self.ids = std::mem::take(&mut self.radix).into_ids();
            self.part += 1;
        }
        Ok(())
    }

    /// The numbers, in their order once sorted.
    pub(super) fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.radix.heap_bytes() + self.ids.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
#[path = "../../tests/units/engine/radix.rs"]
mod tests;
