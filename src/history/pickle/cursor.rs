//! Bounds-checked reader of pickle instructions.

use super::opcode;

/// Error of an instruction that extends beyond the available bytes.
pub(super) struct Incomplete;

/// Reader of the bytes that are not consumed yet.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Cursor { rest: bytes }
    }

    pub(super) fn bytes_left(&self) -> usize {
        self.rest.len()
    }

    #[inline(always)]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Incomplete> {
        let (&byte, rest) = self.rest.split_first().ok_or(Incomplete)?;
        self.rest = rest;
        Ok(byte)
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Incomplete> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(Incomplete)?;
        self.rest = rest;
        Ok(*array)
    }

    /// Peeks at the next instruction. If it is a complete BINGET or LONG_BINGET, returns its memo slot and its length.
    #[inline(always)]
    pub(super) fn peek_get(&self) -> Option<(u32, usize)> {
        match *self.rest {
            [opcode::LONG_BINGET, a, b, c, d, ..] => Some((u32::from_le_bytes([a, b, c, d]), 5)),
            [opcode::BINGET, slot, ..] => Some((slot.into(), 2)),
            _ => None,
        }
    }

    /// Peeks at the next instruction. If it is a complete write to the memo, returns its memo slot and its length. For
    /// MEMOIZE, which writes to the end of the memo, the slot is `None`.
    #[inline(always)]
    pub(super) fn peek_put(&self) -> Option<(Option<u32>, usize)> {
        match *self.rest {
            [opcode::MEMOIZE, ..] => Some((None, 1)),
            [opcode::LONG_BINPUT, a, b, c, d, ..] => Some((Some(u32::from_le_bytes([a, b, c, d])), 5)),
            [opcode::BINPUT, slot, ..] => Some((Some(slot.into()), 2)),
            _ => None,
        }
    }

    /// Reads an instruction with an integer of at most 64 bits. Returns `None` for any other instruction, and if the
    /// instruction is incomplete or its integer has more than `max` bytes.
    #[inline(always)]
    pub(super) fn integer(&mut self, max: usize) -> Option<i64> {
        let (value, length) = match *self.rest {
            [opcode::BININT1, a, ..] => (a.into(), 2),
            [opcode::BININT2, a, b, ..] => (u16::from_le_bytes([a, b]).into(), 3),
            [opcode::BININT, a, b, c, d, ..] => (i32::from_le_bytes([a, b, c, d]).into(), 5),
            [opcode::LONG1, length @ 1..=8, a, b, c, d, e, f, g, h, ..] if usize::from(length) <= max => {
                let unused = 64 - 8 * u32::from(length);
                (i64::from_le_bytes([a, b, c, d, e, f, g, h]) << unused >> unused, 2 + usize::from(length))
            }
            _ => return None,
        };
        self.skip(length);
        Some(value)
    }

    /// Returns the next byte without consuming it.
    #[inline(always)]
    pub(super) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Returns the next eight bytes as a little-endian number without consuming them.
    #[inline(always)]
    pub(super) fn peek_word(&self) -> Option<u64> {
        self.rest.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// Consumes the next byte. Returns `None` if it is not the opcode `code`.
    #[inline(always)]
    pub(super) fn expect(&mut self, code: u8) -> Option<()> {
        let (&next, rest) = self.rest.split_first()?;
        self.rest = rest;
        (next == code).then_some(())
    }

    /// Returns the bytes up to and including the next APPENDS, if they are available and contain only reads from the
    /// memo. Returns `None` otherwise, or if there are no reads.
    pub(super) fn peek_references(&self) -> Option<&'a [u8]> {
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

    /// Skips `length` bytes.
    #[inline(always)]
    pub(super) fn skip(&mut self, length: usize) {
        self.rest = self.rest.get(length..).unwrap_or_default();
    }

    /// Reads the bytes up to the end of the line and consumes the line break.
    pub(super) fn line(&mut self) -> Result<&'a [u8], Incomplete> {
        let end = self.rest.iter().position(|&byte| byte == b'\n').ok_or(Incomplete)?;
        let line = self.rest.get(..end).unwrap_or_default();
        self.skip(end + 1);
        Ok(line)
    }

    #[inline]
    pub(super) fn bytes(&mut self, length: usize) -> Result<&'a [u8], Incomplete> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Incomplete)?;
        self.rest = rest;
        Ok(bytes)
    }
}
