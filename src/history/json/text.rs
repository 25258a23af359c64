//! Escapes in JSON strings.

/// Resolves the escapes in `raw`, the text between the quotes, and appends the result to `out`. Returns `None` if an
/// escape is invalid.
///
/// A surrogate pair becomes one character. A lone surrogate is written as three bytes, like Python's "surrogatepass",
/// so that a pickle and a JSON file with the same string result in the same bytes.
pub(super) fn unescape(raw: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut rest = raw;
    while let Some(start) = rest.iter().position(|&byte| byte == b'\\') {
        let (plain, escape) = rest.split_at_checked(start)?;
        out.extend_from_slice(plain);
        let (&letter, after) = escape.get(1..)?.split_first()?;
        rest = after;
        out.push(match letter {
            b'"' | b'\\' | b'/' => letter,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let first = hex(rest)?;
                rest = rest.get(4..)?;
                let second = rest.strip_prefix(b"\\u").filter(|_| (0xd800..0xdc00).contains(&first)).and_then(hex);
                match second.filter(|second| (0xdc00..0xe000).contains(second)) {
                    Some(second) => {
                        encode(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00), out);
                        rest = rest.get(6..)?;
                    }
                    None => encode(first, out),
                }
                continue;
            }
            _ => return None,
        });
    }
    out.extend_from_slice(rest);
    Some(())
}

/// Parses four hexadecimal digits.
fn hex(text: &[u8]) -> Option<u32> {
    let mut digits = text.get(..4)?.iter().map(|&digit| char::from(digit).to_digit(16));
    digits.try_fold(0, |value, digit| Some(value << 4 | digit?))
}

/// Encodes a code point as UTF-8, surrogates included.
fn encode(point: u32, out: &mut Vec<u8>) {
    let last = |bits: u32| 0x80 | (bits & 0x3f) as u8;
    match point {
        0..0x80 => out.push(point as u8),
        0x80..0x800 => out.extend([0xc0 | (point >> 6) as u8, last(point)]),
        0x800..0x10000 => out.extend([0xe0 | (point >> 12) as u8, last(point >> 6), last(point)]),
        _ => out.extend([0xf0 | (point >> 18) as u8, last(point >> 12), last(point >> 6), last(point)]),
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/json/text.rs"]
mod tests;
