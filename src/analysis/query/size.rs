//! Parsing of numbers and byte sizes in search queries.

use super::error::QueryError;

/// Parses a decimal number, optionally with commas. Returns `None` if it is invalid or exceeds 64 bits.
pub(super) fn digits(text: &str) -> Option<u64> {
    let is_number = text.starts_with(|first: char| first.is_ascii_digit());
    let mut value = 0u64;
    for letter in text.chars().filter(|letter| *letter != ',') {
        value = value.checked_mul(10)?.checked_add(u64::from(letter.to_digit(10)?))?;
    }
    is_number.then_some(value)
}

/// Maximum number of decimal places that are evaluated. Further digits are worth less than a byte, except for TiB.
const DECIMALS: usize = 6;

/// A byte size as typed: `whole + decimals / scale`, in units of `unit` bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    whole: u64,
    /// Decimal places as an integer, less than `scale`.
    decimals: u64,
    /// 10 to the power of the number of decimal places, at most 10^6.
    scale: u64,
    /// Bytes per unit, at most 2^40. With this limit, products with `decimals` and `scale` do not overflow.
    unit: u64,
    /// True if the size is written as the page displays sizes: with decimals and at least three digits.
    as_shown: bool,
}

impl Size {
    /// Parses a size. Returns `None` if the text is not a size, or an error if its unit is ambiguous.
    pub(super) fn parse(text: &str) -> Option<Result<Size, QueryError>> {
        let end = text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.' || letter == ','));
        let (number, unit) = text.split_at_checked(end.unwrap_or(text.len()))?;
        let unit = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 0,
            "k" | "kib" => 10,
            "m" | "mib" => 20,
            "g" | "gib" => 30,
            "t" | "tib" => 40,
            "kb" => return Some(Err(QueryError::Unit('K'))),
            "mb" => return Some(Err(QueryError::Unit('M'))),
            "gb" => return Some(Err(QueryError::Unit('G'))),
            "tb" => return Some(Err(QueryError::Unit('T'))),
            _ => return None,
        };
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let as_shown = !decimals.is_empty() && whole.len() + decimals.len() >= 3;
        let mut size = Size { whole: digits(whole)?, decimals: 0, scale: 1, unit: 1 << unit, as_shown };
        for (place, decimal) in decimals.chars().enumerate() {
            let decimal = decimal.to_digit(10)?;
            if place < DECIMALS {
                size.decimals = size.decimals * 10 + u64::from(decimal);
                size.scale *= 10;
            }
        }
        Some(Ok(size))
    }

    /// Returns `whole` converted to bytes, plus `bytes`.
    fn plus_bytes(&self, bytes: u64) -> u64 {
        self.whole.saturating_mul(self.unit).saturating_add(bytes)
    }

    /// Returns the size, rounded down to whole bytes.
    pub(super) fn floor(&self) -> u64 {
        self.plus_bytes(self.decimals * self.unit / self.scale)
    }

    /// Returns the size, rounded up to whole bytes.
    pub(super) fn ceiling(&self) -> u64 {
        self.plus_bytes((self.decimals * self.unit).div_ceil(self.scale))
    }

    /// Returns true if the typed size is a rounded value. It then matches all sizes that the page displays with the
    /// same text.
    fn is_rounded(&self) -> bool {
        self.as_shown || self.floor() != self.ceiling()
    }

    /// Returns the smallest byte count that the page displays as this size.
    pub(super) fn min_displayed(&self) -> u64 {
        match (self.is_rounded(), (2 * self.decimals).checked_sub(1)) {
            (false, _) => self.floor(),
            (true, Some(halves)) => self.plus_bytes((halves * self.unit).div_ceil(2 * self.scale)),
            (true, None) => {
                // Sizes just below 10 are displayed with two decimals.
                let finer = if (self.whole, self.scale) == (10, 10) { 10 } else { 1 };
                self.plus_bytes(0).saturating_sub(self.unit / (2 * self.scale * finer))
            }
        }
    }

    /// Returns the largest byte count that the page displays as this size.
    pub(super) fn max_displayed(&self) -> u64 {
        if !self.is_rounded() {
            return self.floor();
        }
        // Halfway, it may be displayed as either neighbour.
        self.plus_bytes((2 * self.decimals + 1) * self.unit / (2 * self.scale))
    }
}
