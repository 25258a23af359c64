//! Searches that examine eight bytes at a time. Most of a JSON file is whitespace and strings.

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x8080_8080_8080_8080;
const SPACES: u64 = b' ' as u64 * ONES;
const QUOTES: u64 = b'"' as u64 * ONES;
const BACKSLASHES: u64 = b'\\' as u64 * ONES;

/// Reason why a search through a string stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Closing quote, with its index.
    Quote(usize),
    /// Control character, with its index and value.
    Control(usize, u8),
    /// End of the input. Holds the index where the search continues in the next chunk: 1 after a trailing backslash,
    /// otherwise 0.
    EndOfInput(usize),
}

/// Searches for the end of a string. The search starts at `from`, which must not be inside an escape.
#[inline]
pub(super) fn string_end(bytes: &[u8], from: usize) -> Stop {
    let mut index = from;
    while let Some(rest) = bytes.get(index..) {
        let Some(found) = special(rest) else { return Stop::EndOfInput(0) };
        index += found;
        match bytes.get(index) {
            Some(b'"') => return Stop::Quote(index),
            Some(b'\\') => index += 2,
            Some(&byte) => return Stop::Control(index, byte),
            None => return Stop::EndOfInput(0),
        }
    }
    Stop::EndOfInput(index - bytes.len())
}

/// Returns the index of the first quote, backslash or control character.
#[inline]
fn special(bytes: &[u8]) -> Option<usize> {
    let (words, tail) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // A zero byte sets its top bit. Borrows reach only bytes above the first zero.
        let zero_in = |word: u64| word.wrapping_sub(ONES) & !word;
        let control = word.wrapping_sub(SPACES) & !word;
        let found = (zero_in(word ^ QUOTES) | zero_in(word ^ BACKSLASHES) | control) & TOPS;
        if found != 0 {
            return Some(index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let found = tail.iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < 0x20)?;
    Some(words.len() * 8 + found)
}

/// Returns the input without leading whitespace.
#[inline]
pub(super) fn skip_blanks(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    loop {
        match rest {
            // Indentation is usually longer than one space.
            [b' ', b' ', ..] => {
                let (words, _) = rest.as_chunks::<8>();
                let words = words.iter().take_while(|word| u64::from_le_bytes(**word) == SPACES).count();
                rest = rest.get(words * 8..).unwrap_or_default();
                let spaces = rest.iter().take_while(|&&byte| byte == b' ').count();
                rest = rest.get(spaces..).unwrap_or_default();
            }
            [b' ' | b'\n' | b'\r' | b'\t', after @ ..] => rest = after,
            _ => return rest,
        }
    }
}

/// Returns whether a number or literal can contain this byte.
#[inline]
pub(super) fn is_atom_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b'_')
}

#[cfg(test)]
#[path = "../../../tests/units/history/json/scan.rs"]
mod tests;
