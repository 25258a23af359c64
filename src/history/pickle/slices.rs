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
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Bytes compared at a step: as wide as the widest registers there are everywhere.
const STEP: usize = 32;

/// Bits of a place in [`Slices::after`].
const RECENT_BITS: u32 = 13;

/// Finished lists by the bytes that made them.
pub(super) struct Slices<V> {
    entries: Vec<Entry<V>>,
    /// The slices one after another, each with its APPENDS.
    bytes: Vec<u8>,
    table: HashTable<(u64, u32)>,
    hasher: RandomState,
    /// The slice met last.
    last: u32,
    /// The last four slices met, eight bits of each.
    recent: u32,
    /// What came after four such slices when they were met before. Programs repeat themselves, so this is the best guess at what
    /// comes next: compared first, and when it is right, nothing is searched. After that, what came after the last one.
    after: Vec<u32>,
}

struct Entry<V> {
    start: u32,
    /// Of the slice with its APPENDS.
    length: u32,
    /// The slice that came after this one when it was met before.
    next: u32,
    value: V,
}

impl<V: Copy> Slices<V> {
    pub(super) fn new() -> Self {
        Slices {
            entries: Vec::new(),
            bytes: Vec::new(),
            table: HashTable::new(),
            hasher: RandomState::default(),
            last: 0,
            recent: 0,
            after: Vec::new(),
        }
    }

    /// The known slice that `rest` begins with, and its length with its APPENDS, if the guess is right.
    #[inline(always)]
    pub(super) fn guess(&self, rest: &[u8]) -> Option<(u32, usize)> {
        let after = self.after.get(self.place()).copied();
        let next = self.entries.get(self.last as usize).map(|last| last.next);
        let known_at = |guess: u32| {
            let known = self.slice(guess);
            // What begins with the same bytes, APPENDS included, is the same slice: instructions are read from left to right.
            let is_same = !known.is_empty() && rest.get(..known.len()).is_some_and(|rest| is_equal(rest, known));
            is_same.then_some((guess, known.len()))
        };
        after.and_then(known_at).or_else(|| next.and_then(known_at))
    }

    /// Where [`Slices::after`] has the guess.
    #[inline(always)]
    fn place(&self) -> usize {
        (self.recent.wrapping_mul(0x9e37_79b1) >> (u32::BITS - RECENT_BITS)) as usize
    }

    /// The known slice of these bytes, APPENDS included.
    pub(super) fn find(&self, slice: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash_one(slice);
        // Compared in full: a hash alone would let a file choose which stacks are taken for which.
        let found = self.table.find(hash, |&(known, entry)| known == hash && is_equal(self.slice(entry), slice));
        found.map(|&(_, entry)| entry)
    }

    /// The list made of a known slice.
    #[inline(always)]
    pub(super) fn value(&self, entry: u32) -> Option<V> {
        self.entries.get(entry as usize).map(|entry| entry.value)
    }

    /// This slice was met, for the next guess.
    #[inline(always)]
    pub(super) fn meet(&mut self, entry: u32) {
        let place = self.place();
        if let Some(after) = self.after.get_mut(place) {
            *after = entry;
        }
        if let Some(before) = self.entries.get_mut(self.last as usize) {
            before.next = entry;
        }
        self.last = entry;
        // Neighbouring numbers must differ in the eight bits.
        self.recent = self.recent << 8 ^ entry.wrapping_mul(0x85eb_ca6b) >> 7;
    }

    #[inline(always)]
    fn slice(&self, entry: u32) -> &[u8] {
        let place = self.entries.get(entry as usize);
        place.and_then(|place| self.bytes.get(place.start as usize..)?.get(..place.length as usize)).unwrap_or_default()
    }

    fn insert(&mut self, slice: &[u8], value: V) {
        let hash = self.hasher.hash_one(slice);
        let (start, length) = (u32::try_from(self.bytes.len()), u32::try_from(slice.len()));
        let (Ok(entry), Ok(start), Ok(length)) = (u32::try_from(self.entries.len()), start, length) else { return };
        self.entries.push(Entry { start, length, next: entry, value });
        self.bytes.extend_from_slice(slice);
        // Not before the first slice: most machines of tests never see one.
        self.after.resize(1 << RECENT_BITS, 0);
        self.table.insert_unique(hash, (hash, entry), |&(hash, _)| hash);
        self.meet(entry);
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.bytes.clear();
        // To clear it costs what it could hold, and a file can have that done every few bytes.
        self.table = HashTable::new();
        // The guesses stay: a wrong one costs a comparison.
        self.last = 0;
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry<V>>()
            + self.bytes.capacity()
            + self.table.allocation_size()
            + self.after.capacity() * 4
    }
}

/// `==`, which in wasm goes byte by byte.
#[inline(always)]
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    match (one.last_chunk(), other.last_chunk()) {
        (Some(end), Some(other_end)) => {
            let (one, other) = (one.as_chunks().0, other.as_chunks().0);
            // The last step overlaps the one before it.
            one.iter().zip(other).all(|(one, other)| is_equal_step(one, other)) && is_equal_step(end, other_end)
        }
        _ => one == other,
    }
}

#[inline(always)]
fn is_equal_step(one: &[u8; STEP], other: &[u8; STEP]) -> bool {
    // Written out: what is built for size unrolls no loop.
    let ([a, b, c, d], [e, f, g, h]) = (one.as_chunks().0, other.as_chunks().0) else { return one == other };
    let differ = |one: &[u8; 8], other: &[u8; 8]| u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
    differ(a, e) | differ(b, f) | differ(c, g) | differ(d, h) == 0
}

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
        if let Some(entry) = known.and_then(|entry| self.slices.entries.get(entry as usize)) {
            self.builder.abandon(number);
            return Ok(entry.value);
        }
        let value = self.builder.finish(number)?;
        let length = self.open.get(number).map_or(0, |list| list.slice.len());
        if length == 0 || length > self.limits.slice_bytes || !self.builder.is_shareable(value) {
            return Ok(value);
        }
        let slice = self.open.get_mut(number).map(|list| std::mem::take(&mut list.slice)).unwrap_or_default();
        if self.slices.bytes.len() + length > self.limits.slice_bytes {
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
