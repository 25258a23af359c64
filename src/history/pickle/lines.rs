//! The text of protocol 0: numbers and strings that end with their line.

use std::str::FromStr;

/// What INT or LONG says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Integer {
    Bool(bool),
    Small(i64),
    /// Beyond 64 signed bits.
    Big(i128),
}

/// INT: decimal, or a bool.
pub(super) fn int(line: &[u8]) -> Option<Integer> {
    match line {
        b"00" => Some(Integer::Bool(false)),
        b"01" => Some(Integer::Bool(true)),
        _ => parse(line).map(Integer::Small).or_else(|| parse(line).map(Integer::Big)),
    }
}

/// LONG: decimal, with an `L` behind it.
pub(super) fn long(line: &[u8]) -> Option<Integer> {
    let digits = line.strip_suffix(b"L").unwrap_or(line);
    parse(digits).map(Integer::Small).or_else(|| parse(digits).map(Integer::Big))
}

/// FLOAT: as Python prints it, `inf` and `nan` included; GET and PUT: the number of a memo slot.
pub(super) fn parse<T: FromStr>(line: &[u8]) -> Option<T> {
    std::str::from_utf8(line).ok()?.parse().ok()
}

/// UNICODE, in Python's "raw-unicode-escape": Latin-1, where `\uXXXX` and `\UXXXXXXXX` stand for other characters. Lone
/// surrogates become three bytes each, as in the other protocols. `None` where an escape is none.
pub(super) fn unicode(line: &[u8]) -> Option<Vec<u8>> {
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
