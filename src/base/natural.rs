//! The order of names with numbers in them, as people expect it.

use std::cmp::Ordering;

/// Compares names so that runs of digits count as numbers: `rank2` before `rank10`. Names that differ in leading zeros alone compare as text.
pub fn compare_names(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one, other);
    loop {
        let ((a, after_a), (b, after_b)) = match (split_number(left), split_number(right)) {
            (Some(left), Some(right)) => (left, right),
            _ => match (left.chars().next(), right.chars().next()) {
                (Some(a), Some(b)) if a == b => {
                    left = left.get(a.len_utf8()..).unwrap_or_default();
                    right = right.get(b.len_utf8()..).unwrap_or_default();
                    continue;
                }
                (a, b) => return a.cmp(&b).then_with(|| one.cmp(other)),
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

/// The digits at the beginning, and what follows.
fn split_number(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at_checked(digits).filter(|(digits, _)| !digits.is_empty())
}

#[cfg(test)]
#[path = "../../tests/units/base/natural.rs"]
mod tests;
