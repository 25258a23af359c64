//! Factors for the sizes of allocations in a plan: fractions, parsed from user input.

use base::units::group_digits;
use serde::{Deserialize, Serialize};

/// Maximum of the numerator and of the denominator.
const MAX_PART: u32 = 1_000_000;

/// Names of data types that a factor may contain, with their sizes in bytes.
const TYPES: [(&str, u32); 16] = [
    ("fp64", 8),
    ("float64", 8),
    ("int64", 8),
    ("fp32", 4),
    ("float32", 4),
    ("tf32", 4),
    ("int32", 4),
    ("bf16", 2),
    ("bfloat16", 2),
    ("fp16", 2),
    ("float16", 2),
    ("fp8", 1),
    ("float8", 1),
    ("int8", 1),
    ("uint8", 1),
    ("8bit", 1),
];

/// A fraction `times / by` in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Factor {
    times: u32,
    by: u32,
}

impl Default for Factor {
    fn default() -> Factor {
        Factor::ONE
    }
}

impl Factor {
    /// The factor 1.
    pub const ONE: Factor = Factor { times: 1, by: 1 };
    /// The factor 0.
    pub const ZERO: Factor = Factor { times: 0, by: 1 };

    /// Creates the fraction `times / by`. Returns `None` if `by` is 0, or if the numerator or denominator in lowest
    /// terms exceeds a million.
    pub fn new(times: u64, by: u64) -> Option<Factor> {
        let (mut high, mut low) = (times, by);
        while low > 0 {
            (high, low) = (low, high % low);
        }
        let part =
            |number: u64| number.checked_div(high).and_then(|it| u32::try_from(it).ok()).filter(|&it| it <= MAX_PART);
        (by > 0).then_some(Factor { times: part(times)?, by: part(by)? })
    }

    /// Parses a factor such as `2x`, `0.5`, `50%`, `/8`, `3/4` or `fp32->bf16`.
    pub fn parse(text: &str) -> Option<Factor> {
        let text = text.trim();
        if let Some((from, to)) = text.split_once("->") {
            let bytes = |name: &str| TYPES.iter().find(|(it, _)| it.eq_ignore_ascii_case(name.trim())).map(|it| it.1);
            return Factor::new(bytes(to)?.into(), bytes(from)?.into());
        }
        if let Some((times, by)) = text.split_once(['/', '÷']) {
            let times = if times.trim().is_empty() { 1 } else { times.trim().parse().ok()? };
            return Factor::new(times, by.trim().parse().ok()?);
        }
        let (number, by) = match text.strip_suffix('%') {
            Some(number) => (number, 100),
            None => (text.trim_start_matches(['×', 'x']).trim_end_matches(['x', '×']), 1),
        };
        let (whole, part) = number.trim().split_once('.').unwrap_or((number.trim(), ""));
        let is_number = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
        if whole.len() + part.len() == 0 || !is_number(whole) || !is_number(part) || part.len() > 6 {
            return None;
        }
        Factor::new([whole, part].concat().parse().ok()?, 10u64.pow(part.len() as u32) * by)
    }

    /// Returns the numerator and the denominator.
    pub fn parts(self) -> (u32, u32) {
        (self.times, self.by)
    }

    /// Returns the factor as a floating-point number.
    pub fn quotient(self) -> f64 {
        f64::from(self.times) / f64::from(self.by.max(1))
    }

    /// Returns the product of two factors, or `None` if its numerator or denominator is too large.
    pub fn product(self, other: Factor) -> Option<Factor> {
        let product = |one: u32, other: u32| u64::from(one) * u64::from(other);
        Factor::new(product(self.times, other.times), product(self.by, other.by))
    }

    /// Multiplies a number of bytes by the factor and rounds up.
    pub fn scaled(self, bytes: u64) -> u64 {
        let product = u128::from(bytes) * u128::from(self.times);
        u64::try_from(product.div_ceil(self.by.max(1).into())).unwrap_or(u64::MAX)
    }
}

impl std::fmt::Display for Factor {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Factor { times, by } = *self;
        match (times, by) {
            (times, 1) => write!(out, "× {}", group_digits(times.into())),
            (1, by) => write!(out, "÷ {}", group_digits(by.into())),
            (times, by) => write!(out, "× {times}/{by}"),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/units/analysis/factor.rs"]
mod tests;
