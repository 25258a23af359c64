//! Strings, numbers and literals, which chunks may split.

use super::{Parser, Rest, SplitToken};
use crate::json::error::{ErrorKind, JsonError};
use crate::json::number::{Number, parse_number};
use crate::json::scan::{Stop, is_atom_byte, string_end};
use crate::json::text::unescape;
use crate::pickle::Builder;

/// Maximum capacity in bytes of a buffer that is kept for reuse. A larger buffer, needed for a long string, is freed.
const MAX_KEPT_CARRY: usize = 64 << 10;

/// Maximum length of an invalid value in an error message, in bytes. Longer values are cut.
const MAX_QUOTED: usize = 40;

impl<B: Builder> Parser<B> {
    /// Parses a string from `carry` and `bytes`. The search for its end starts at `bytes[from]`.
    #[inline]
    pub(super) fn string<'a>(&mut self, bytes: &'a [u8], from: usize) -> Rest<'a, B> {
        let (end, next, control) = match string_end(bytes, from) {
            Stop::Quote(end) => (end, None, None),
            Stop::EndOfInput(next) => (bytes.len(), Some(next), None),
            Stop::Control(index, byte) => (index, None, Some(byte)),
        };
        // The carried part and the opening quote came with earlier chunks.
        let left = bytes.len() + self.carry.len() + 1;
        if self.carry.len() + end > self.limits.string_bytes {
            let kind = ErrorKind::Limit { what: "bytes in one string", max: self.limits.string_bytes };
            return Err(self.error(kind, left));
        }
        if let Some(byte) = control {
            return Err(self.error(ErrorKind::ControlCharacter(byte), bytes.len() - end));
        }
        let (raw, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
        if let Some(next) = next {
            self.carry.extend_from_slice(raw);
            self.cut = SplitToken::String(next);
            return Ok(rest);
        }
        if self.cut == SplitToken::None {
            self.end_string(raw, left)?;
        } else {
            let mut carry = std::mem::take(&mut self.carry);
            carry.extend_from_slice(raw);
            self.end_string(&carry, left)?;
            self.reuse_carry(carry);
        }
        Ok(rest.get(1..).unwrap_or_default())
    }

    #[inline]
    pub(super) fn end_string(&mut self, raw: &[u8], left: usize) -> Result<(), JsonError<B::Error>> {
        if !raw.contains(&b'\\') {
            let value = self.builder.string(raw);
            return self.accept(value, left);
        }
        self.scratch.clear();
        if unescape(raw, &mut self.scratch).is_none() {
            return Err(self.error(ErrorKind::Escape, left));
        }
        let value = self.builder.string(&self.scratch);
        self.scratch.shrink_to(MAX_KEPT_CARRY);
        self.accept(value, left)
    }

    /// Parses a number or literal from `carry` and the start of `bytes`.
    #[inline]
    pub(super) fn atom<'a>(&mut self, bytes: &'a [u8]) -> Rest<'a, B> {
        let length = bytes.iter().take_while(|&&byte| is_atom_byte(byte)).count();
        let (raw, rest) = bytes.split_at_checked(length).unwrap_or((bytes, &[]));
        if self.carry.len() + length > self.limits.atom_bytes {
            let kind = ErrorKind::Limit { what: "characters in one number", max: self.limits.atom_bytes };
            return Err(self.error(kind, bytes.len() + self.carry.len()));
        }
        if rest.is_empty() {
            self.carry.extend_from_slice(raw);
            self.cut = SplitToken::Atom;
        } else {
            self.end_atom(raw, bytes.len())?;
        }
        Ok(rest)
    }

    #[inline]
    pub(super) fn end_atom(&mut self, raw: &[u8], left: usize) -> Result<(), JsonError<B::Error>> {
        if self.cut == SplitToken::None {
            return self.word(raw, left);
        }
        let mut carry = std::mem::take(&mut self.carry);
        let carried = carry.len();
        carry.extend_from_slice(raw);
        self.word(&carry, left + carried)?;
        self.reuse_carry(carry);
        Ok(())
    }

    /// Keeps the buffer of a completed split token for reuse.
    fn reuse_carry(&mut self, mut carry: Vec<u8>) {
        carry.clear();
        carry.shrink_to(MAX_KEPT_CARRY);
        (self.carry, self.cut) = (carry, SplitToken::None);
    }

    #[inline]
    fn word(&mut self, text: &[u8], left: usize) -> Result<(), JsonError<B::Error>> {
        let value = match text {
            b"null" => self.builder.none(),
            b"true" => self.builder.bool(true),
            b"false" => self.builder.bool(false),
            b"NaN" => self.builder.float(f64::NAN),
            b"Infinity" => self.builder.float(f64::INFINITY),
            b"-Infinity" => self.builder.float(f64::NEG_INFINITY),
            _ => match parse_number(text) {
                Some(Number::Int(value)) => self.builder.int(value),
                Some(Number::Big(bytes)) => self.builder.big_int(&bytes),
                Some(Number::Float(value)) => self.builder.float(value),
                None => {
                    let quoted = text.get(..MAX_QUOTED).unwrap_or(text);
                    let kind = ErrorKind::InvalidValue(String::from_utf8_lossy(quoted).into_owned());
                    return Err(self.error(kind, left));
                }
            },
        };
        self.accept(value, left)
    }
}
