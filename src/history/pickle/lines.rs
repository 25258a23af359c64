//! Text operands of protocol 0: numbers and strings up to the end of the line.

use std::str::FromStr;

/// Operand of INT or LONG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Integer {
    Bool(bool),
    Small(i64),
    /// Integer outside `i64`.
    Big(i128),
}

/// Parses the operand of INT: a decimal number or a bool.
pub(super) fn parse_int(line: &[u8]) -> Option<Integer> {
    match line {
        b"00" => Some(Integer::Bool(false)),
        b"01" => Some(Integer::Bool(true)),
        _ => parse(line).map(Integer::Small).or_else(|| parse(line).map(Integer::Big)),
    }
}

/// Parses the operand of LONG: a decimal number, usually followed by `L`.
pub(super) fn parse_long(line: &[u8]) -> Option<Integer> {
    let digits = line.strip_suffix(b"L").unwrap_or(line);
    parse(digits).map(Integer::Small).or_else(|| parse(digits).map(Integer::Big))
}

/// Parses the operand of FLOAT as Python prints it, including `inf` and `nan`, or the slot number of GET and PUT.
pub(super) fn parse<T: FromStr>(line: &[u8]) -> Option<T> {
    std::str::from_utf8(line).ok()?.parse().ok()
}

/// Decodes the operand of UNICODE from Python's "raw-unicode-escape": Latin-1 with escapes `\uXXXX` and `\UXXXXXXXX`. A
/// lone surrogate becomes three bytes, as in the other protocols. Returns `None` if an escape is invalid.
pub(super) fn decode_unicode(line: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        let digits = match after.first() {
            Some(b'u') if byte == b'\\' => 4,
            Some(b'U') if byte == b'\\' => 8,
            _ => {
                encode(byte.into(), &mut out);
                rest = after;
                continue;
            }
        };
        let (digits, after) = after.get(1..)?.split_at_checked(digits)?;
        let mut digits = digits.iter().map(|&digit| char::from(digit).to_digit(16));
        let point = digits.try_fold(0, |point, digit| Some(point << 4 | digit?))?;
        encode(point, &mut out);
        rest = after;
        if point > 0x10_ffff {
            return None;
        }
    }
    Some(out)
}

fn encode(point: u32, out: &mut Vec<u8>) {
    match char::from_u32(point) {
        Some(character) => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        None => out.extend([0xe0 | (point >> 12) as u8, 0x80 | (point >> 6 & 0x3f) as u8, 0x80 | (point & 0x3f) as u8]),
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/pickle/lines.rs"]
mod tests;
