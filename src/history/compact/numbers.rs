//! Encoding of numbers as varints, with zigzag encoding of signed ones.

/// Maximum length in bytes of a varint of 128 bits.
const MAX_VARINT_BYTES: u32 = 19;

/// Appends an unsigned number as a varint.
pub(super) fn put_varint(bytes: &mut Vec<u8>, mut number: u128) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a signed number in zigzag encoding, which is short for numbers near zero.
pub(super) fn put_signed(bytes: &mut Vec<u8>, number: i128) {
    put_varint(bytes, (number << 1 ^ number >> 127) as u128);
}

/// Appends the difference `number` − `before` as a signed number.
pub(super) fn put_difference(bytes: &mut Vec<u8>, number: u64, before: u64) {
    put_signed(bytes, i128::from(number.wrapping_sub(before) as i64));
}

/// Cursor over encoded bytes. Reading never fails: a missing or oversized number reads as zero, and
/// [`NumberReader::is_sound`] returns false from then on.
pub(super) struct NumberReader<'a> {
    rest: &'a [u8],
    is_sound: bool,
}

impl<'a> NumberReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> NumberReader<'a> {
        NumberReader { rest: bytes, is_sound: true }
    }

    /// Returns whether all numbers so far were valid.
    pub(super) fn is_sound(&self) -> bool {
        self.is_sound
    }

    /// Returns whether all numbers were valid and no bytes are left.
    pub(super) fn is_finished(&self) -> bool {
        self.is_sound && self.rest.is_empty()
    }

    /// Returns the number of bytes left.
    pub(super) fn bytes_left(&self) -> usize {
        self.rest.len()
    }

    /// Marks the input as invalid.
    pub(super) fn reject(&mut self) {
        self.is_sound = false;
    }

    /// Marks the input as invalid unless `condition` is true.
    pub(super) fn require(&mut self, condition: bool) {
        self.is_sound &= condition;
    }

    #[inline]
    pub(super) fn byte(&mut self) -> u8 {
        let Some((&byte, rest)) = self.rest.split_first() else {
            self.reject();
            return 0;
        };
        self.rest = rest;
        byte
    }

    /// Reads a signed number of up to 128 bits, such as the line number of a frame.
    #[inline(never)]
    pub(super) fn signed_128(&mut self) -> i128 {
        let mut number = 0u128;
        for index in 0..MAX_VARINT_BYTES {
            let byte = self.byte();
            number |= u128::from(byte & 127) << (7 * index);
            if byte < 128 {
                return (number >> 1) as i128 ^ -((number & 1) as i128);
            }
        }
        self.reject();
        0
    }

    /// Reads an unsigned 64-bit number.
    #[inline(never)]
    pub(super) fn unsigned(&mut self) -> u64 {
        let mut number = 0;
        for index in 0..10 {
            let byte = self.byte();
            number |= u64::from(byte & 127) << (7 * index);
            if byte < 128 {
                return number;
            }
        }
        self.reject();
        0
    }

    /// Reads a signed 64-bit number.
    #[inline]
    pub(super) fn signed(&mut self) -> i64 {
        let number = self.unsigned();
        (number >> 1) as i64 ^ -((number & 1) as i64)
    }

    /// Reads a signed difference. Returns its sum with `before`, which wraps on overflow.
    #[inline]
    pub(super) fn difference(&mut self, before: u64) -> u64 {
        before.wrapping_add(self.signed() as u64)
    }

    /// Reads a size in bytes. As in the pickle decoder, sizes of 2^63 or more are invalid.
    #[inline]
    pub(super) fn size(&mut self) -> u64 {
        let size = self.unsigned();
        self.require(size <= i64::MAX as u64);
        size
    }

    /// Reads an unsigned 32-bit number.
    #[inline]
    pub(super) fn unsigned_32(&mut self) -> u32 {
        let number = self.unsigned();
        self.require(number <= u64::from(u32::MAX));
        number as u32
    }

    /// Reads `count` raw bytes.
    pub(super) fn bytes(&mut self, count: u64) -> &'a [u8] {
        let split = usize::try_from(count).ok().and_then(|count| self.rest.split_at_checked(count));
        let Some((bytes, rest)) = split else {
            self.reject();
            return &[];
        };
        self.rest = rest;
        bytes
    }

    /// Splits a section into its `N` columns. The lengths of all columns precede the columns. Returns `None` if the
    /// columns do not fill the section exactly.
    pub(super) fn columns<const N: usize>(mut self) -> Option<[NumberReader<'a>; N]> {
        let lengths = [(); N].map(|()| self.unsigned());
        let columns = lengths.map(|length| NumberReader::new(self.bytes(length)));
        self.is_finished().then_some(columns)
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/compact/numbers.rs"]
mod tests;
