//! Parses the streams and pools of search queries: their numbers, or the labels of the page.

/// Parses a stream: a decimal number, a hexadecimal number with the prefix `0x`, or a label such as `default stream`.
pub(super) fn stream(text: &str) -> Option<u64> {
    let text = text.trim();
    if is_default(text, "stream") {
        return Some(0);
    }
    number(text.strip_prefix("stream ").unwrap_or(text))
}

/// Parses the two numbers of a pool, with or without parentheses and the name before them, or `default pool`.
pub(super) fn pool(text: &str) -> Option<(u64, u64)> {
    let text = text.trim();
    if is_default(text, "pool") {
        return Some((0, 0));
    }
    let numbers = text.rsplit_once('(').map_or(text, |(_, numbers)| numbers).trim_end_matches(')');
    let (first, second) = numbers.split_once(',')?;
    number(first.trim()).zip(number(second.trim()))
}

fn is_default(text: &str, noun: &str) -> bool {
    text == "default" || text.strip_prefix("default ") == Some(noun)
}

fn number(text: &str) -> Option<u64> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+')),
        None => text.parse().ok(),
    };
    number.filter(|_| !text.starts_with('+'))
}
