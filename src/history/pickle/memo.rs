//! The memo of a pickle: values by slot number.

use super::error::ErrorKind;
use super::limits::Limits;
use base::column::Column;
use base::heap::HeapBytes;
use std::collections::BTreeSet;

/// Values by slot, eight bytes each. The memo of a 10 GB file has fifty million slots.
pub(super) struct Memo<V> {
    /// Values by slot. Holes contain arbitrary values.
    values: Column<V>,
    /// Slots that were skipped. Empty except for unusual files, because picklers number slots from 0.
    holes: BTreeSet<u32>,
}

impl<V: Copy> Memo<V> {
    pub(super) fn new() -> Self {
        Memo { values: Column::new(), holes: BTreeSet::new() }
    }

    /// Returns the number of filled slots. This is also the slot that MEMOIZE writes to, as in CPython, even if higher
    /// slots are filled.
    pub(super) fn filled_slots(&self) -> usize {
        self.values.len() - self.holes.len()
    }

    /// Returns the first unwritten slot, or `None` if there are holes.
    #[inline(always)]
    pub(super) fn end(&self) -> Option<u32> {
        if self.holes.is_empty() { u32::try_from(self.values.len()).ok() } else { None }
    }

    /// Fills the slot at [`Memo::end`]. The caller checks the limit.
    #[inline(always)]
    pub(super) fn push(&mut self, value: V) {
        self.values.push(value);
    }

    /// Returns the value in `slot`, if it is filled.
    #[inline(always)]
    pub(super) fn get(&self, slot: u32) -> Option<V> {
        if !self.holes.is_empty() && self.holes.contains(&slot) {
            return None;
        }
        self.values.get(slot as usize)
    }

    /// Fills or overwrites `slot`.
    #[inline]
    pub(super) fn put<E>(&mut self, slot: u32, value: V, limits: &Limits) -> Result<(), ErrorKind<E>> {
        let len = self.values.len();
        let index = slot as usize;
        if index < len {
            self.holes.remove(&slot);
            self.values.set(index, value);
            return Ok(());
        }
        if index >= limits.memo_slots {
            return Err(ErrorKind::Limit { what: "memo slots", max: limits.memo_slots });
        }
        if index > len {
            if self.holes.len() + (index - len) > limits.memo_holes {
                return Err(ErrorKind::Limit { what: "skipped memo slots", max: limits.memo_holes });
            }
            for hole in len..index {
                self.holes.extend(u32::try_from(hole));
                self.values.push(value);
            }
        }
        self.values.push(value);
        Ok(())
    }

    /// Overwrites `slot` if it is filled.
    pub(super) fn replace(&mut self, slot: u32, value: V) {
        self.values.set(slot as usize, value);
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.values.heap_bytes()
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/pickle/memo.rs"]
mod tests;
