//! Packing of column chunks: each value minus the chunk's minimum, in one, two, four or eight bytes.

use base::column::Column;

/// Length in bytes of a part's header: column, width and minimum.
const HEADER_BYTES: usize = 10;

/// Column value that can be converted to an unsigned number with the same order.
pub(super) trait Word: Copy {
    fn word(self) -> u64;
    /// Converts a number back to a value. Inverse of [`Word::word`]. Out-of-range numbers are truncated.
    fn from_word(word: u64) -> Self;
}

macro_rules! unsigned {
    ($($kind:ty),*) => {$(
        impl Word for $kind {
            #[inline(always)]
            fn word(self) -> u64 {
                u64::from(self)
            }

            #[inline(always)]
            fn from_word(word: u64) -> $kind {
                word as $kind
            }
        }
    )*};
}

macro_rules! signed {
    ($($kind:ty),*) => {$(
        impl Word for $kind {
            #[inline(always)]
            fn word(self) -> u64 {
                i64::from(self) as u64 ^ 1 << 63
            }

            #[inline(always)]
            fn from_word(word: u64) -> $kind {
                (word ^ 1 << 63) as i64 as $kind
            }
        }
    )*};
}

unsigned!(u8, u32, u64);
signed!(i32, i64);

/// Packs a chunk of a column. `column` identifies the column within its device.
pub(super) fn pack<T: Word>(column: u8, chunk: &[T]) -> Vec<u8> {
    let words: Vec<u64> = chunk.iter().map(|value| value.word()).collect();
    pack_words(column, &words)
}

/// Packs the words of a chunk. Not generic, so that the page's wasm contains the code once.
fn pack_words(column: u8, words: &[u64]) -> Vec<u8> {
    let min = words.iter().copied().min().unwrap_or(0);
    let width = match words.iter().copied().max().unwrap_or(0) - min {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    };
    let mut part = Vec::with_capacity(HEADER_BYTES + width * words.len());
    part.extend([column, width as u8]);
    part.extend(min.to_le_bytes());
    for word in words {
        part.extend_from_slice((word - min).to_le_bytes().get(..width).unwrap_or_default());
    }
    part
}

/// Appends the values of a packed chunk to `column`. `part` starts after the byte that identifies the column. Returns
/// `false` if the chunk is invalid.
pub(super) fn unpack<T: Word>(part: &[u8], column: &mut Column<T>) -> bool {
    unpack_words(part).is_some_and(|words| column.push_chunk(words.into_iter().map(T::from_word).collect()))
}

/// Unpacks the words of a packed chunk. Not generic, for the same reason as [`pack_words`].
fn unpack_words(part: &[u8]) -> Option<Vec<u64>> {
    let (&[width, ref min @ ..], values) = part.split_first_chunk::<{ HEADER_BYTES - 1 }>()?;
    let min = u64::from_le_bytes(*min);
    let words = match width {
        1 => values.iter().map(|&byte| min.wrapping_add(u64::from(byte))).collect(),
        2 => decode_words(values, |bytes| min.wrapping_add(u64::from(u16::from_le_bytes(bytes)))),
        4 => decode_words(values, |bytes| min.wrapping_add(u64::from(u32::from_le_bytes(bytes)))),
        8 => decode_words(values, |bytes| min.wrapping_add(u64::from_le_bytes(bytes))),
        _ => return None,
    };
    values.len().is_multiple_of(usize::from(width)).then_some(words)
}

#[inline(always)]
fn decode_words<const WIDTH: usize>(values: &[u8], word: impl Fn([u8; WIDTH]) -> u64) -> Vec<u64> {
    values.as_chunks::<WIDTH>().0.iter().map(|&bytes| word(bytes)).collect()
}
