//! Parses the streams and pools of search queries.

/// Parses a stream: a decimal number, or a hexadecimal number with the prefix `0x`.
pub(super) fn stream(text: &str) -> Option<u64> {
    let text = text.trim();
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+')),
        None => text.parse().ok(),
    };
    number.filter(|_| !text.starts_with('+'))
}

/// Parses the two numbers of a pool, with or without parentheses.
pub(super) fn pool(text: &str) -> Option<(u64, u64)> {
    let (first, second) = text.trim().trim_start_matches('(').trim_end_matches(')').split_once(',')?;
    stream(first).zip(stream(second))
}
