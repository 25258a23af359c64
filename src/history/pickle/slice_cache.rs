//! Cache of finished lists by their bytes. A lookup first guesses the slice that followed the previous ones before.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Bytes compared per step: the widest registers available everywhere.
const STEP_BYTES: usize = 32;

/// Bits of an index into [`Slices::after`].
const RECENT_BITS: u32 = 13;

/// Finished lists by their bytes.
pub(super) struct SliceCache<V> {
    entries: Vec<Entry<V>>,
    /// Concatenated slices, each with its APPENDS.
    bytes: Vec<u8>,
    table: HashTable<(u64, u32)>,
    hasher: RandomState,
    last: u32,
    /// Last four slices seen, eight bits each.
    recent: u32,
    /// Slice that followed the last four slices before, indexed by a hash of them. Programs repeat themselves, so this
    /// is the first guess. The second guess is the slice that followed the last one.
    followers: Vec<u32>,
}

struct Entry<V> {
    start: u32,
    length: u32,
    /// Slice that followed this one the last time.
    next: u32,
    value: V,
}

impl<V: Copy> SliceCache<V> {
    pub(super) fn new() -> Self {
        SliceCache {
            entries: Vec::new(),
            bytes: Vec::new(),
            table: HashTable::new(),
            hasher: RandomState::default(),
            last: 0,
            recent: 0,
            followers: Vec::new(),
        }
    }

    /// Returns the known slice that `rest` begins with, and its length with APPENDS, if the guess is right.
    #[inline(always)]
    pub(super) fn guess_next(&self, rest: &[u8]) -> Option<(u32, usize)> {
        let after = self.followers.get(self.follower_index()).copied();
        let next = self.entries.get(self.last as usize).map(|last| last.next);
        let known_at = |guess: u32| {
            let known = self.slice(guess);
            // Equal first bytes including APPENDS mean the same slice, because instructions are read from left to
            // right.
            let is_same = !known.is_empty() && rest.get(..known.len()).is_some_and(|rest| is_equal(rest, known));
            is_same.then_some((guess, known.len()))
        };
        after.and_then(known_at).or_else(|| next.and_then(known_at))
    }

    /// Index into [`Slices::after`] for the current guess.
    #[inline(always)]
    fn follower_index(&self) -> usize {
        (self.recent.wrapping_mul(0x9e37_79b1) >> (u32::BITS - RECENT_BITS)) as usize
    }

    /// Looks up a slice by its bytes, including APPENDS.
    pub(super) fn find(&self, slice: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash_one(slice);
        // Compared in full. With hashes alone, a file could choose which stacks are confused.
        let found = self.table.find(hash, |&(known, entry)| known == hash && is_equal(self.slice(entry), slice));
        found.map(|&(_, entry)| entry)
    }

    /// Returns the list built from a known slice.
    #[inline(always)]
    pub(super) fn value(&self, entry: u32) -> Option<V> {
        self.entries.get(entry as usize).map(|entry| entry.value)
    }

    /// Records that a slice was seen, for the next guesses.
    #[inline(always)]
    pub(super) fn record(&mut self, entry: u32) {
        let place = self.follower_index();
        if let Some(after) = self.followers.get_mut(place) {
            *after = entry;
        }
        if let Some(before) = self.entries.get_mut(self.last as usize) {
            before.next = entry;
        }
        self.last = entry;
        // Consecutive numbers must differ in the eight bits.
        self.recent = self.recent << 8 ^ entry.wrapping_mul(0x85eb_ca6b) >> 7;
    }

    #[inline(always)]
    pub(super) fn slice(&self, entry: u32) -> &[u8] {
        let place = self.entries.get(entry as usize);
        place.and_then(|place| self.bytes.get(place.start as usize..)?.get(..place.length as usize)).unwrap_or_default()
    }

    pub(super) fn insert(&mut self, slice: &[u8], value: V) {
        let hash = self.hasher.hash_one(slice);
        let (start, length) = (u32::try_from(self.bytes.len()), u32::try_from(slice.len()));
        let (Ok(entry), Ok(start), Ok(length)) = (u32::try_from(self.entries.len()), start, length) else { return };
        self.entries.push(Entry { start, length, next: entry, value });
        self.bytes.extend_from_slice(slice);
        // Allocated with the first slice, because most parsers in tests never see one.
        self.followers.resize(1 << RECENT_BITS, 0);
        self.table.insert_unique(hash, (hash, entry), |&(hash, _)| hash);
        self.record(entry);
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.bytes.clear();
        // Clearing would cost time proportional to the capacity, and a file can cause it every few bytes.
        self.table = HashTable::new();
        // The guesses stay. A wrong one costs a comparison.
        self.last = 0;
    }

    /// Total length of all slices, in bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry<V>>()
            + self.bytes.capacity()
            + self.table.allocation_size()
            + self.followers.capacity() * 4
    }
}

/// Compares slices in wide steps. In wasm `==` compares byte by byte.
#[inline(always)]
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    match (one.last_chunk(), other.last_chunk()) {
        (Some(end), Some(other_end)) => {
            let (one, other) = (one.as_chunks().0, other.as_chunks().0);
            // The last step may overlap the one before it.
            one.iter().zip(other).all(|(one, other)| is_equal_step(one, other)) && is_equal_step(end, other_end)
        }
        _ => one == other,
    }
}

#[inline(always)]
fn is_equal_step(one: &[u8; STEP_BYTES], other: &[u8; STEP_BYTES]) -> bool {
    // Unrolled by hand, because code built for size has no unrolled loops.
    let ([a, b, c, d], [e, f, g, h]) = (one.as_chunks().0, other.as_chunks().0) else { return one == other };
    let differ = |one: &[u8; 8], other: &[u8; 8]| u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
    differ(a, e) | differ(b, f) | differ(c, g) | differ(d, h) == 0
}
