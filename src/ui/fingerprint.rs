//! What tells a file from others, as a link has it: its length, and a hash of its first, middle and last MiB.
//!
//! So much is read in an instant of a file of any size; it is against mistaking one file for another, not against forgery.

use std::ops::Range;

/// Bytes of each of the three parts.
const PART: u64 = 1 << 20;
/// Bytes of the hash that are written: by chance no two files share them.
const HASH_BYTES: usize = 16;

/// The parts of a file of so many bytes that are hashed, in order; no two overlap, and together they are all of a short file.
pub fn parts(length: u64) -> [Range<u64>; 3] {
    if length <= 3 * PART {
        return [0..length, length..length, length..length];
    }
    let middle = (length - PART) / 2;
    [0..PART, middle..middle + PART, length - PART..length]
}

/// Takes a file in from its beginning to its end.
#[derive(Clone, Debug)]
pub struct Tap {
    length: u64,
    came: u64,
    hasher: blake3::Hasher,
}

impl Tap {
    /// For a file of so many bytes.
    pub fn new(length: u64) -> Tap {
        Tap { length, came: 0, hasher: blake3::Hasher::new() }
    }

    /// The next bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        let from = self.came;
        self.came += bytes.len() as u64;
        for part in parts(self.length) {
            let place = |at: u64| usize::try_from(at.clamp(from, self.came) - from).unwrap_or(0);
            self.hasher.update(bytes.get(place(part.start)..place(part.end)).unwrap_or_default());
        }
    }

    /// The bytes up to here are not those of a part: they need not be read.
    pub fn skip_to(&mut self, at: u64) {
        self.came = self.came.max(at);
    }

    /// `LENGTH-HASH`; `None` where the file was not as long as it was said to be.
    pub fn finish(&self) -> Option<String> {
        let hash = self.hasher.finalize().to_hex();
        let hash = hash.get(..2 * HASH_BYTES)?;
        (self.came == self.length).then(|| [&self.length.to_string(), "-", hash].concat())
    }
}

/// The bytes that a print says the file has.
pub fn length(print: &str) -> Option<u64> {
    print.split('-').next()?.parse().ok()
}

#[cfg(test)]
#[path = "../../tests/units/ui/fingerprint.rs"]
mod tests;
