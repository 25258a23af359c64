//! Checked reads over the bytes at hand.

use super::opcode;

/// The instruction goes on beyond the bytes at hand.
pub(super) struct Short;

/// What is left of the bytes at hand.
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
    #[inline]
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
    #[inline]
    pub(super) fn reference(&self) -> Option<(u32, usize)> {
        match *self.rest {
            [opcode::LONG_BINGET, a, b, c, d, ..] => Some((u32::from_le_bytes([a, b, c, d]), 5)),
            [opcode::BINGET, slot, ..] => Some((slot.into(), 2)),
            _ => None,
        }
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
    #[inline]
    pub(super) fn skip(&mut self, length: usize) {
        self.rest = self.rest.get(length..).unwrap_or_default();
    }

    #[inline]
    pub(super) fn bytes(&mut self, length: usize) -> Result<&'a [u8], Short> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Short)?;
        self.rest = rest;
        Ok(bytes)
    }
}
