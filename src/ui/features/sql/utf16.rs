//! Offsets in texts as browsers count them, in UTF-16 units.

/// Returns the length of a text in UTF-16 units.
pub(super) fn utf16_length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Converts an offset in UTF-16 units to a byte offset.
pub(super) fn bytes_to(text: &str, utf16_offset: usize) -> usize {
    let mut left = utf16_offset;
    for (offset, c) in text.char_indices() {
        match left.checked_sub(c.len_utf16()) {
            Some(rest) if left > 0 => left = rest,
            _ => return offset,
        }
    }
    text.len()
}

#[cfg(test)]
#[path = "../../../../tests/units/ui/features/utf16.rs"]
mod tests;
