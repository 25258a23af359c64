//! Checked reads over the bytes at hand.

use super::opcode;

/// The instruction goes on beyond the bytes at hand.
pub(super) struct Short;

/// What is left of the bytes at hand.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Cursor { rest: bytes }
    }

    /// How many bytes are left.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    /// The bytes that are left.
    #[inline(always)]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Short> {
        let (&byte, rest) = self.rest.split_first().ok_or(Short)?;
        self.rest = rest;
        Ok(byte)
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Short> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(Short)?;
        self.rest = rest;
        Ok(*array)
    }

    /// The slot that the next instruction fetches from the memo, and the instruction's length, if it is such a one and whole.
    #[inline(always)]
    pub(super) fn reference(&self) -> Option<(u32, usize)> {
        match *self.rest {
            [opcode::LONG_BINGET, a, b, c, d, ..] => Some((u32::from_le_bytes([a, b, c, d]), 5)),
            [opcode::BINGET, slot, ..] => Some((slot.into(), 2)),
            _ => None,
        }
    }

    /// The slot that the next instruction writes, [`None`] for the end of the memo, and the instruction's length, if it is such a
    /// one and whole.
    #[inline(always)]
    pub(super) fn put(&self) -> Option<(Option<u32>, usize)> {
        match *self.rest {
            [opcode::MEMOIZE, ..] => Some((None, 1)),
            [opcode::LONG_BINPUT, a, b, c, d, ..] => Some((Some(u32::from_le_bytes([a, b, c, d])), 5)),
            [opcode::BINPUT, slot, ..] => Some((Some(slot.into()), 2)),
            _ => None,
        }
    }

    /// Reads an integer, if the next instruction is one of at most 64 bits, whole, and of no more than `most` bytes.
    #[inline(always)]
    pub(super) fn integer(&mut self, most: usize) -> Option<i64> {
        let (value, length) = match *self.rest {
            [opcode::BININT1, a, ..] => (a.into(), 2),
            [opcode::BININT2, a, b, ..] => (u16::from_le_bytes([a, b]).into(), 3),
            [opcode::BININT, a, b, c, d, ..] => (i32::from_le_bytes([a, b, c, d]).into(), 5),
            [opcode::LONG1, length @ 1..=8, a, b, c, d, e, f, g, h, ..] if usize::from(length) <= most => {
                let unused = 64 - 8 * u32::from(length);
                (i64::from_le_bytes([a, b, c, d, e, f, g, h]) << unused >> unused, 2 + usize::from(length))
            }
            _ => return None,
        };
        self.skip(length);
        Some(value)
    }

    /// The next byte, which stays.
    #[inline(always)]
    pub(super) fn next(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// The next eight bytes as a number, the first one lowest; they stay.
    #[inline(always)]
    pub(super) fn word(&self) -> Option<u64> {
        self.rest.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// Leaves out the next instruction, which must be this one.
    #[inline(always)]
    pub(super) fn expect(&mut self, code: u8) -> Option<()> {
        let (&next, rest) = self.rest.split_first()?;
        self.rest = rest;
        (next == code).then_some(())
    }

    /// The bytes up to the next APPENDS and it, when they are at hand and nothing else but fetches from the memo, at least one.
    pub(super) fn references(&self) -> Option<&'a [u8]> {
        let mut end = 0;
        loop {
            end += match *self.rest.get(end)? {
                opcode::LONG_BINGET => 5,
                opcode::BINGET => 2,
                opcode::APPENDS if end > 0 => return self.rest.get(..=end),
                _ => return None,
            };
        }
    }

    /// Leaves out as many bytes.
    #[inline(always)]
    pub(super) fn skip(&mut self, length: usize) {
        self.rest = self.rest.get(length..).unwrap_or_default();
    }

    /// The bytes up to the end of the line, which is left out as well.
    pub(super) fn line(&mut self) -> Result<&'a [u8], Short> {
        let end = self.rest.iter().position(|&byte| byte == b'\n').ok_or(Short)?;
        let line = self.rest.get(..end).unwrap_or_default();
        self.skip(end + 1);
        Ok(line)
    }

    #[inline]
    pub(super) fn bytes(&mut self, length: usize) -> Result<&'a [u8], Short> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Short)?;
        self.rest = rest;
        Ok(bytes)
    }
}
