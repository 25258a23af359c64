//! The short cut for lists of memo references: equal bytes are equal lists.
//!
//! A snapshot is mostly stacks, lists of references (`h x`, `j xxxx`) to a few thousand frames, and equal stacks are usually equal
//! bytes. So the bytes between MARK and APPENDS are looked up before they are run:
//!
//! ```text
//!   ]  ␞  (  j 07 01 00 00  h 3f  j 09 01 00 00  e
//!            └────────── the slice ───────────┘        known → the finished list, nothing is run
//! ```
//!
//! It is sound because it applies only to the first batch of an empty list, only when the slice holds nothing but references to
//! finished values, and because writing a memo slot that was filled before forgets everything. A list that gets a second batch
//! after all is first given what its slice stands for.

use super::builder::Builder;
use super::cursor::Cursor;
use super::open::Kind;
use super::stack::Stack;

impl<B: Builder> Stack<B> {
    /// Tries the short cut where MARK was just read: `true` when the whole batch, APPENDS included, is done.
    #[inline(always)]
    pub(super) fn short_cut(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let Some(top) = self.values.len().checked_sub(1).filter(|&top| top >= self.fence) else { return false };
        let Some(number) = self.open_at(top) else { return false };
        let is_fresh = self.open.get(number).is_some_and(|list| list.kind == Kind::List && !list.changed);
        if !is_fresh || self.limits.slice_bytes == 0 || !self.has_room_for_batches(1) {
            return false;
        }
        if let Some((entry, length)) = self.slices.guess(cursor.rest()) {
            self.take_known(number, entry);
            cursor.skip(length);
            return true;
        }
        let Some(slice) = cursor.references() else { return false };
        match self.slices.find(slice) {
            Some(entry) => self.take_known(number, entry),
            None if self.append_references(number, slice) => {
                if let Some(list) = self.open.take_short_cut(number) {
                    list.slice.extend_from_slice(slice);
                }
            }
            None => return false,
        }
        cursor.skip(slice.len());
        true
    }

    /// The open list is equal to one made before.
    #[inline(always)]
    fn take_known(&mut self, number: u32, entry: u32) {
        self.slices.meet(entry);
        if let Some(list) = self.open.take_short_cut(number) {
            list.known = Some(entry);
        }
    }

    /// Gives the list what the references stand for; `false`, and nothing given, when one is not a finished value, or one that
    /// the builder may refuse: it would refuse another, after a first try took some.
    fn append_references(&mut self, number: u32, slice: &[u8]) -> bool {
        self.scratch.truncate(0);
        let mut references = Cursor::new(slice);
        while let Some((slot, length)) = references.reference() {
            let value = self.memo.get(slot).filter(|&value| self.builder.open_slot(value).is_none());
            match value.filter(|&value| self.builder.is_shareable(value)) {
                Some(value) => self.scratch.push(value),
                None => return false,
            }
            references.skip(length);
        }
        // A value that the builder refuses is refused again on the plain road, which knows its place.
        self.builder.append(number, &self.scratch).is_ok()
    }

    /// How many values an open list has, those that the builder was spared included: for the path of an error.
    pub(super) fn held(&self, number: u32) -> u64 {
        let known = self.open.get(number).and_then(|list| list.known);
        let mut references = Cursor::new(known.map_or(&[], |entry| self.slices.slice(entry)));
        let mut held = self.builder.open_len(number);
        while let Some((_, length)) = references.reference() {
            references.skip(length);
            held += 1;
        }
        held
    }

    /// The container is about to be given more: from here on it is an ordinary list.
    pub(super) fn leave_short_cut(&mut self, number: u32) {
        let Some(list) = self.open.get_mut(number) else { return };
        list.slice.clear();
        if let Some(entry) = list.known.take() {
            let slice = self.slices.slice(entry).to_vec();
            self.append_references(number, &slice);
        }
    }

    /// A filled memo slot is about to change: slices that name it would stand for something else.
    #[cold]
    pub(super) fn forget_slices(&mut self) {
        while let Some(number) = self.open.pop_short_cut() {
            self.leave_short_cut(number);
        }
        self.slices.clear();
    }

    /// What the builder makes of a container, or made of its equal before.
    pub(super) fn made(&mut self, number: u32) -> Result<B::Value, B::Error> {
        let known = self.open.get(number).and_then(|list| list.known);
        if let Some(value) = known.and_then(|entry| self.slices.value(entry)) {
            self.builder.abandon(number);
            return Ok(value);
        }
        let value = self.builder.finish(number)?;
        let length = self.open.get(number).map_or(0, |list| list.slice.len());
        if length == 0 || length > self.limits.slice_bytes || !self.builder.is_shareable(value) {
            return Ok(value);
        }
        let slice = self.open.get_mut(number).map(|list| std::mem::take(&mut list.slice)).unwrap_or_default();
        if self.slices.len() + length > self.limits.slice_bytes {
            self.forget_slices();
        }
        self.slices.insert(&slice, value);
        if let Some(list) = self.open.get_mut(number) {
            // The buffer goes back, empty, for the next list of this number.
            list.slice = slice;
            list.slice.clear();
        }
        Ok(value)
    }
}
