//! JSON in UTF-16, which some Windows programs write, as UTF-8. Lone surrogates become replacement characters.

use super::layer::{Fault, Unpacker};

/// Byte order of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

/// Returns the byte order if `head` begins a text in UTF-16: with a byte order mark, or with the first letter of JSON.
pub(super) fn byte_order(head: &[u8]) -> Option<ByteOrder> {
    match head {
        [0xff, 0xfe, ..] | [b'{' | b'[', 0, ..] => Some(ByteOrder::Little),
        [0xfe, 0xff, ..] | [0, b'{' | b'[', ..] => Some(ByteOrder::Big),
        _ => None,
    }
}

pub(super) struct Utf16 {
    order: ByteOrder,
    /// First byte of a unit that was split by the end of the input.
    odd: Option<u8>,
    /// First unit of a surrogate pair.
    high: Option<u16>,
}

impl Utf16 {
    pub(super) fn new(order: ByteOrder) -> Utf16 {
        Utf16 { order, odd: None, high: None }
    }
}

/// Maximum number of bytes that one unit adds: those of a letter, and of the replacement of a surrogate before it.
const MAX_BYTES: usize = 6;

impl Unpacker for Utf16 {
    fn unpack(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Fault> {
        for (index, &byte) in input.iter().enumerate() {
            if output.capacity() - output.len() < MAX_BYTES {
                return Ok(index);
            }
            let Some(first) = self.odd.take() else {
                self.odd = Some(byte);
                continue;
            };
            let unit = match self.order {
                ByteOrder::Little => u16::from_le_bytes([first, byte]),
                ByteOrder::Big => u16::from_be_bytes([first, byte]),
            };
            let is_high = (0xd800..0xdc00).contains(&unit);
            let units = self.high.take().into_iter().chain((!is_high).then_some(unit));
            for letter in char::decode_utf16(units) {
                let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
                output.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
            self.high = is_high.then_some(unit);
        }
        Ok(input.len())
    }

    fn finish(&self) -> Result<(), Fault> {
        if self.odd.is_none() && self.high.is_none() { Ok(()) } else { Err(Fault::Truncated) }
    }
}
