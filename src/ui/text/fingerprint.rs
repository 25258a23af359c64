//! Fingerprint of a file, used in links: its length, and a hash of its first, middle and last MiB.
//!
//! A fingerprint can be computed quickly for a file of any size. It distinguishes files reliably, but does not protect
//! against forgery.

use std::ops::Range;

/// Number of bytes in each of the three hashed parts.
const PART_BYTES: u64 = 1 << 20;
/// Number of bytes to which the hash is truncated. Enough to make accidental collisions negligible.
const HASH_BYTES: usize = 16;

/// Returns the byte ranges of a file that are hashed, in order. `length` is the file's length in bytes. The ranges do
/// not overlap. If the file has up to 3 MiB, they cover the whole file.
pub fn parts(length: u64) -> [Range<u64>; 3] {
    if length <= 3 * PART_BYTES {
        return [0..length, length..length, length..length];
    }
    let middle = (length - PART_BYTES) / 2;
    [0..PART_BYTES, middle..middle + PART_BYTES, length - PART_BYTES..length]
}

/// Hasher that computes a fingerprint from the bytes of a file, which are passed in order.
#[derive(Clone, Debug)]
pub struct FingerprintHasher {
    length: u64,
    position: u64,
    hasher: blake3::Hasher,
}

impl FingerprintHasher {
    /// Creates a hasher for a file of `length` bytes.
    pub fn new(length: u64) -> FingerprintHasher {
        FingerprintHasher { length, position: 0, hasher: blake3::Hasher::new() }
    }

    /// Adds the next bytes of the file.
    pub fn update(&mut self, bytes: &[u8]) {
        let from = self.position;
        self.position += bytes.len() as u64;
        for part in parts(self.length) {
            let offset_in_bytes = |at: u64| usize::try_from(at.clamp(from, self.position) - from).unwrap_or(0);
            self.hasher.update(bytes.get(offset_in_bytes(part.start)..offset_in_bytes(part.end)).unwrap_or_default());
        }
    }

    /// Skips to offset `at`. The skipped bytes must not belong to any of the hashed [`parts`].
    pub fn skip_to(&mut self, at: u64) {
        self.position = self.position.max(at);
    }

    /// Returns the fingerprint, `LENGTH-HASH`. `None` if the file's end was not at the given length.
    pub fn finish(&self) -> Option<String> {
        let hash = self.hasher.finalize().to_hex();
        let hash = hash.get(..2 * HASH_BYTES)?;
        (self.position == self.length).then(|| [&self.length.to_string(), "-", hash].concat())
    }
}

/// Parses the length of the file, in bytes, from a fingerprint.
pub fn length(print: &str) -> Option<u64> {
    print.split('-').next()?.parse().ok()
}

#[cfg(test)]
#[path = "../../../tests/units/ui/fingerprint.rs"]
mod tests;
