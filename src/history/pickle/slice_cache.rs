//! Cache of finished lists, keyed by the bytes of their references (a slice). A lookup first tries the slice that
//! followed the same slices last time.

use base::heap::HeapBytes;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Number of bytes compared per step, so that the comparison uses wide registers.
const STEP_BYTES: usize = 32;

/// Number of bits of an index into [`SliceCache::followers`].
const RECENT_BITS: u32 = 13;

/// Finished lists, keyed by the bytes of their references.
pub(super) struct SliceCache<V> {
    entries: Vec<Entry<V>>,
    /// All slices one after another, each with its APPENDS.
    bytes: Vec<u8>,
    table: HashTable<(u64, u32)>,
    hasher: RandomState,
    last: u32,
    /// Hash of the last four slices seen, eight bits each.
    recent: u32,
    /// For each hash of four consecutive slices: the slice that followed them last time. This is the first guess,
    /// because programs repeat themselves. The second guess is the slice that followed the last slice.
    followers: Vec<u32>,
}

struct Entry<V> {
    start: u32,
    length: u32,
    /// Slice that followed this slice last time.
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

    /// Returns the known slice at the start of `rest` and its length with APPENDS, if one of the two guesses is right.
    #[inline(always)]
    pub(super) fn guess_next(&self, rest: &[u8]) -> Option<(u32, usize)> {
        let follower = self.followers.get(self.follower_index()).copied();
        let next = self.entries.get(self.last as usize).map(|last| last.next);
        let known_at = |guess: u32| {
            let known = self.slice(guess);
            // Equal first bytes including APPENDS mean the same slice, because instructions are read from left to
            // right.
            let is_same = !known.is_empty() && rest.get(..known.len()).is_some_and(|rest| is_equal(rest, known));
            is_same.then_some((guess, known.len()))
        };
        follower.and_then(known_at).or_else(|| next.and_then(known_at))
    }

    /// Returns the index into [`SliceCache::followers`] for the last four slices.
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

    /// Records that a slice occurred, for the next guesses.
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

    /// Returns the total length of all slices, in bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.entries.heap_bytes() + self.bytes.capacity() + self.table.heap_bytes() + self.followers.heap_bytes()
    }
}

/// Compares slices in wide steps. In wasm, `==` compares byte by byte.
#[inline(always)]
fn is_equal(first: &[u8], second: &[u8]) -> bool {
    if first.len() != second.len() {
        return false;
    }
    match (first.last_chunk(), second.last_chunk()) {
        (Some(first_end), Some(second_end)) => {
            let (first, second) = (first.as_chunks().0, second.as_chunks().0);
            // The last step may overlap the one before it.
            first.iter().zip(second).all(|(first, second)| is_equal_step(first, second))
                && is_equal_step(first_end, second_end)
        }
        _ => first == second,
    }
}

#[inline(always)]
fn is_equal_step(first: &[u8; STEP_BYTES], second: &[u8; STEP_BYTES]) -> bool {
    // Unrolled by hand, because code built for size has no unrolled loops.
    let ([a, b, c, d], [e, f, g, h]) = (first.as_chunks().0, second.as_chunks().0) else { return first == second };
    let differ = |first: &[u8; 8], second: &[u8; 8]| u64::from_le_bytes(*first) ^ u64::from_le_bytes(*second);
    differ(a, e) | differ(b, f) | differ(c, g) | differ(d, h) == 0
}
