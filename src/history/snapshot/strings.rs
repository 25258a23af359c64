//! Interned strings.

use super::schema::{ALL, KEYS, Key};
use base::column::Column;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::borrow::Cow;
use std::hash::BuildHasher;

/// Index of a string in the snapshot's table. Ids below `KEYS.len()` belong to the words of the schema, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StringId(pub u32);

/// Distinct strings of a snapshot.
///
/// The bytes are stored in buffers of 1 MiB, so that adding strings never copies existing ones. A longer string has its
/// own buffer.
pub struct Strings {
    pieces: Vec<Vec<u8>>,
    /// Buffer index, start and length of each string.
    places: Column<(u32, u32, u32)>,
    ids: HashTable<u32>,
    hasher: RandomState,
    /// Total length of all strings in bytes.
    bytes: usize,
}

base::heap_bytes!(Strings: [pieces], places, ids);

/// Maximum total length of all strings in bytes: a quarter of the address space of wasm. The strings of the largest
/// known snapshots take tens of MiB.
pub const MAX_STRING_BYTES: usize = 1 << 30;

const PIECE: usize = 1 << 20;

impl Default for Strings {
    fn default() -> Self {
        let (pieces, places, ids) = (Vec::new(), Column::new(), HashTable::new());
        let mut strings = Strings { pieces, places, ids, hasher: RandomState::default(), bytes: 0 };
        for key in KEYS {
            strings.intern(key.as_bytes());
        }
        strings
    }
}

impl Strings {
    /// Returns the id of the string `bytes`, which is added if it is new. Returns `None` if the total length would
    /// exceed [`MAX_STRING_BYTES`].
    pub fn intern(&mut self, bytes: &[u8]) -> Option<StringId> {
        let hash = self.hasher.hash_one(bytes);
        let Strings { pieces, places, ids, hasher, bytes: total } = self;
        if let Some(&id) = ids.find(hash, |&id| slice(pieces, places, id) == bytes) {
            return Some(StringId(id));
        }
        let id = u32::try_from(places.len()).ok().filter(|&id| id < u32::MAX)?;
        let length = u32::try_from(bytes.len()).ok()?;
        // The empty string is stored once, so this limit also bounds the number of strings.
        *total = total.checked_add(bytes.len()).filter(|&total| total <= MAX_STRING_BYTES)?;
        let fits = pieces.last().is_some_and(|piece| piece.capacity() - piece.len() >= bytes.len());
        if !fits {
            // The first piece starts smaller, so that a small snapshot stays small.
            pieces.push(Vec::with_capacity(if pieces.is_empty() { 16 << 10 } else { PIECE }.max(bytes.len())));
        }
        let piece_index = pieces.len() as u32 - 1;
        let piece = pieces.last_mut()?;
        places.push((piece_index, piece.len() as u32, length));
        piece.extend_from_slice(bytes);
        ids.insert_unique(hash, id, |&id| hasher.hash_one(slice(pieces, places, id)));
        Some(StringId(id))
    }

    /// Returns the bytes of a string, exactly as recorded in the file.
    pub fn bytes(&self, id: StringId) -> &[u8] {
        slice(&self.pieces, &self.places, id.0)
    }

    /// Returns a string for display. Invalid UTF-8 (lone surrogates) becomes U+FFFD.
    pub fn text(&self, id: StringId) -> Cow<'_, str> {
        String::from_utf8_lossy(self.bytes(id))
    }

    /// Returns the number of strings, including the schema's words.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Always returns false, because the schema's words are present.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

fn slice<'a>(pieces: &'a [Vec<u8>], place: &Column<(u32, u32, u32)>, id: u32) -> &'a [u8] {
    let Some((piece, start, length)) = place.get(id as usize) else { return &[] };
    pieces.get(piece as usize).and_then(|p| p.get(start as usize..start as usize + length as usize)).unwrap_or(&[])
}

impl Key {
    /// Returns the word of the schema with this id, if the id belongs to one.
    #[inline(always)]
    pub fn from_id(id: StringId) -> Option<Key> {
        ALL.get(id.0 as usize).copied()
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/snapshot/strings.rs"]
mod tests;
