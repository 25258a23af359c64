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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn print(bytes: &[u8], chunk: usize) -> String {
        let mut tap = Tap::new(bytes.len() as u64);
        bytes.chunks(chunk).for_each(|chunk| tap.take(chunk));
        tap.finish().unwrap()
    }

    #[test]
    fn a_short_file_is_hashed_whole() {
        let text = b"abc";
        let hash = blake3::hash(text).to_hex();
        assert_eq!(print(text, 2), format!("3-{}", &hash[..32]));
        assert_eq!(length(&print(text, 1)), Some(3));
    }

    #[test]
    fn a_file_that_ends_early_has_none() {
        let mut tap = Tap::new(4);
        tap.take(b"abc");
        assert_eq!(tap.finish(), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn it_is_of_length_and_three_parts(length in 0..5_000_000usize, chunk in 1..700_000usize, flip: prop::sample::Index) {
            let mut bytes: Vec<u8> = (0..length).map(|at| ((at * 31) >> 7) as u8).collect();
            let of_parts: Vec<u8> = parts(length as u64).into_iter()
                .flat_map(|part| bytes[part.start as usize..part.end as usize].to_vec()).collect();
            prop_assert_eq!(&print(&bytes, chunk)[length.to_string().len() + 1..], &blake3::hash(&of_parts).to_hex()[..32]);
            if length > 0 {
                let before = print(&bytes, chunk);
                let at = flip.index(length);
                bytes[at] ^= 1;
                let is_in = parts(length as u64).iter().any(|part| part.contains(&(at as u64)));
                prop_assert_eq!(print(&bytes, length) != before, is_in);
            }
        }
    }
}
