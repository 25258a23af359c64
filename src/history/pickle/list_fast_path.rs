//! Fast path for lists of memo references, which reuses a list if its bytes are known.
//!
//! A snapshot consists mostly of stacks, which are lists of references (`h x`, `j xxxx`) to a few thousand frames.
//! Equal stacks usually have equal bytes. So the bytes between MARK and APPENDS are looked up before they are run:
//!
//! ```text
//!   ]  ␞  (  j 07 01 00 00  h 3f  j 09 01 00 00  e
//!            └────────── the slice ───────────┘        known → reuse the finished list
//! ```
//!
//! This is sound because it applies only to the first batch of an empty list, and only if the slice contains nothing
//! but references to finished values. Overwriting a filled memo slot clears the cache. If a list gets a second batch,
//! the items of its slice are added first.

use super::builder::Builder;
use super::cursor::Cursor;
use super::open::Kind;
use super::stack::Stack;

impl<B: Builder> Stack<B> {
    /// Tries to read a whole batch after MARK, including APPENDS. Returns `true` if the fast path applied. Otherwise
    /// consumes nothing.
    #[inline(always)]
    pub(super) fn try_list_fast_path(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let Some(top) = self.values.len().checked_sub(1).filter(|&top| top >= self.batch_start) else { return false };
        let Some(number) = self.open_at(top) else { return false };
        let is_fresh = self.open.get(number).is_some_and(|list| list.kind == Kind::List && !list.changed);
        if !is_fresh || self.limits.slice_bytes == 0 || !self.has_room_for_batches(1) {
            return false;
        }
        if let Some((entry, length)) = self.slices.guess_next(cursor.rest()) {
            self.use_known_slice(number, entry);
            cursor.skip(length);
            return true;
        }
        let Some(slice) = cursor.peek_references() else { return false };
        match self.slices.find(slice) {
            Some(entry) => self.use_known_slice(number, entry),
            None if self.append_references(number, slice) => {
                if let Some(list) = self.open.mark_fast_path(number) {
                    list.slice.extend_from_slice(slice);
                }
            }
            None => return false,
        }
        cursor.skip(slice.len());
        true
    }

    /// Records that an open list equals a known list: the value of slice cache entry `entry`.
    #[inline(always)]
    fn use_known_slice(&mut self, number: u32, entry: u32) {
        self.slices.record(entry);
        if let Some(list) = self.open.mark_fast_path(number) {
            list.known = Some(entry);
        }
    }

    /// Appends the referenced values to the list. Returns `false`, without appending any, if a value is not finished or
    /// might be rejected by the builder. The general path then reads the whole slice instead.
    fn append_references(&mut self, number: u32, slice: &[u8]) -> bool {
        self.scratch.truncate(0);
        let mut references = Cursor::new(slice);
        while let Some((slot, length)) = references.peek_get() {
            let value = self.memo.get(slot).filter(|&value| self.builder.open_slot(value).is_none());
            match value.filter(|&value| self.builder.is_shareable(value)) {
                Some(value) => self.scratch.push(value),
                None => return false,
            }
            references.skip(length);
        }
        // A value that the builder rejects is rejected again on the general path, which knows its position.
        self.builder.append(number, &self.scratch).is_ok()
    }

    /// Returns the number of values in the open list in slot `number`, including those not yet passed to the builder.
    /// Used for the path in an error message.
    pub(super) fn item_count(&self, number: u32) -> u64 {
        let known = self.open.get(number).and_then(|list| list.known);
        let mut references = Cursor::new(known.map_or(&[], |entry| self.slices.slice(entry)));
        let mut count = self.builder.open_len(number);
        while let Some((_, length)) = references.peek_get() {
            references.skip(length);
            count += 1;
        }
        count
    }

    /// Passes the items of a list's known slice to the builder. Called before further items are added to the list.
    pub(super) fn leave_fast_path(&mut self, number: u32) {
        let Some(list) = self.open.get_mut(number) else { return };
        list.slice.clear();
        if let Some(entry) = list.known.take() {
            let slice = self.slices.slice(entry).to_vec();
            self.append_references(number, &slice);
        }
    }

    /// Clears the slice cache. Called before a filled memo slot changes, because cached slices may refer to the slot.
    #[cold]
    pub(super) fn clear_slices(&mut self) {
        while let Some(number) = self.open.pop_fast_path() {
            self.leave_fast_path(number);
        }
        self.slices.clear();
    }

    /// Finishes a container. If an equal list was finished before, returns that list's value instead.
    pub(super) fn finished_value(&mut self, number: u32) -> Result<B::Value, B::Error> {
        let known = self.open.get(number).and_then(|list| list.known);
        if let Some(value) = known.and_then(|entry| self.slices.value(entry)) {
            self.builder.drop_list(number);
            return Ok(value);
        }
        let value = self.builder.finish(number)?;
        let length = self.open.get(number).map_or(0, |list| list.slice.len());
        if length == 0 || length > self.limits.slice_bytes || !self.builder.is_shareable(value) {
            return Ok(value);
        }
        let slice = self.open.get_mut(number).map(|list| std::mem::take(&mut list.slice)).unwrap_or_default();
        if self.slices.len() + length > self.limits.slice_bytes {
            self.clear_slices();
        }
        self.slices.insert(&slice, value);
        if let Some(list) = self.open.get_mut(number) {
            // Return the empty buffer for the next list in this slot.
            list.slice = slice;
            list.slice.clear();
        }
        Ok(value)
    }
}
