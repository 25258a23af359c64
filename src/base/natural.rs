//! Natural order of names that contain numbers.

use std::cmp::Ordering;

/// Compares names with runs of digits as numbers: `rank2` comes before `rank10`. Names that differ only in leading
/// zeros are compared as text.
pub fn compare_names(first: &str, second: &str) -> Ordering {
    let (mut left, mut right) = (first, second);
    loop {
        let ((a, after_a), (b, after_b)) = match (split_number(left), split_number(right)) {
            (Some(left), Some(right)) => (left, right),
            _ => match (left.chars().next(), right.chars().next()) {
                (Some(a), Some(b)) if a == b => {
                    left = left.get(a.len_utf8()..).unwrap_or_default();
                    right = right.get(b.len_utf8()..).unwrap_or_default();
                    continue;
                }
                (a, b) => return a.cmp(&b).then_with(|| first.cmp(second)),
            },
        };
        let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
        let by_value = a.len().cmp(&b.len()).then_with(|| a.cmp(b));
        if by_value != Ordering::Equal {
            return by_value;
        }
        (left, right) = (after_a, after_b);
    }
}

/// Splits `text` into its leading digits and the rest. Returns `None` if it starts with no digit.
fn split_number(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at_checked(digits).filter(|(digits, _)| !digits.is_empty())
}

#[cfg(test)]
#[path = "../../tests/units/base/natural.rs"]
mod tests;
