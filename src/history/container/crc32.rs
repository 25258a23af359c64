//! CRC-32, the checksum of gzip and zip, computed sixteen bytes at a time.
//!
//! The lookup tables are built when a checksum starts. As constants (like in flate2), they would make up 1 % of the
//! page's wasm.

/// Polynomial of CRC-32, bit-reversed.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// Checksums of each byte value when followed by 0 to 15 zero bytes.
type Tables = [[u32; 256]; 16];

/// Running checksum, and number of bytes so far.
pub(super) struct Crc32 {
    tables: Box<Tables>,
    sum: u32,
    length: u32,
}

impl Crc32 {
    /// Creates the checksum of an empty input.
    pub(super) fn new() -> Crc32 {
        Crc32 { tables: tables(), sum: 0, length: 0 }
    }

    /// Resets to the checksum of an empty input.
    pub(super) fn reset(&mut self) {
        (self.sum, self.length) = (0, 0);
    }

    pub(super) fn sum(&self) -> u32 {
        self.sum
    }

    /// Returns the number of bytes added so far, modulo 2^32.
    pub(super) fn length(&self) -> u32 {
        self.length
    }

    /// Adds the next bytes.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        let tables = &*self.tables;
        let mut sum = !self.sum;
        let (blocks, rest) = bytes.as_chunks::<16>();
        for block in blocks {
            let (words, _) = block.as_chunks::<4>();
            let &[first, second, third, fourth] = words else { continue };
            sum = word_crc::<12>(tables, u32::from_le_bytes(first) ^ sum)
                ^ word_crc::<8>(tables, u32::from_le_bytes(second))
                ^ word_crc::<4>(tables, u32::from_le_bytes(third))
                ^ word_crc::<0>(tables, u32::from_le_bytes(fourth));
        }
        for &byte in rest {
            sum = tables[0][usize::from(sum as u8 ^ byte)] ^ (sum >> 8);
        }
        self.sum = !sum;
        self.length = self.length.wrapping_add(bytes.len() as u32);
    }
}

/// Returns the contribution of four bytes to the checksum if `BEHIND` more bytes follow them.
#[inline(always)] // called for every word of unpacked data
fn word_crc<const BEHIND: usize>(tables: &Tables, word: u32) -> u32 {
    let [first, second, third, fourth] = word.to_le_bytes().map(usize::from);
    tables[BEHIND + 3][first] ^ tables[BEHIND + 2][second] ^ tables[BEHIND + 1][third] ^ tables[BEHIND][fourth]
}

fn tables() -> Box<Tables> {
    let mut tables = Box::new([[0; 256]; 16]);
    for byte in 0..256 {
        let mut sum = byte as u32;
        for _ in 0..8 {
            sum = if sum & 1 == 0 { sum >> 1 } else { sum >> 1 ^ POLYNOMIAL };
        }
        tables[0][byte] = sum;
    }
    for behind in 1..16 {
        for byte in 0..256 {
            let before = tables[behind - 1][byte];
            tables[behind][byte] = before >> 8 ^ tables[0][usize::from(before as u8)];
        }
    }
    tables
}

#[cfg(test)]
#[path = "../../../tests/units/history/container/check.rs"]
mod tests;
