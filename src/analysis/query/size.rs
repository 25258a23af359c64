//! Numbers and sizes as they are typed.

use super::error::QueryError;

/// A number of digits, with or without commas between them; `None` for anything else, and beyond 64 bits.
pub(super) fn digits(text: &str) -> Option<u64> {
    let is_number = text.starts_with(|first: char| first.is_ascii_digit());
    let mut value = 0u64;
    for letter in text.chars().filter(|letter| *letter != ',') {
        value = value.checked_mul(10)?.checked_add(u64::from(letter.to_digit(10)?))?;
    }
    is_number.then_some(value)
}

/// Decimals that are looked at: more are less than a byte, but of TiB.
const DECIMALS: usize = 6;

/// A size as it is written: `whole + decimals / tenths` units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    whole: u64,
    /// Less than `tenths`.
    decimals: u64,
    /// 10 to the number of decimals: 10^6 at most.
    tenths: u64,
    /// Bytes of the unit: 2^40 at most, so that neither product reaches 2^63.
    unit: u64,
    /// Whether it is written as the page writes sizes: three digits, some of them decimals.
    as_shown: bool,
}

impl Size {
    /// `None` for what is no size; an error for one whose unit is ambiguous.
    pub(super) fn read(text: &str) -> Option<Result<Size, QueryError>> {
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
        let mut size = Size { whole: digits(whole)?, decimals: 0, tenths: 1, unit: 1 << unit, as_shown };
        for (place, decimal) in decimals.chars().enumerate() {
            let decimal = decimal.to_digit(10)?;
            if place < DECIMALS {
                size.decimals = size.decimals * 10 + u64::from(decimal);
                size.tenths *= 10;
            }
        }
        Some(Ok(size))
    }

    /// The whole units and this many bytes.
    fn and(&self, bytes: u64) -> u64 {
        self.whole.saturating_mul(self.unit).saturating_add(bytes)
    }

    /// Bytes, without a part of one.
    pub(super) fn floor(&self) -> u64 {
        self.and(self.decimals * self.unit / self.tenths)
    }

    /// Bytes, a part of one being a whole one.
    pub(super) fn ceiling(&self) -> u64 {
        self.and((self.decimals * self.unit).div_ceil(self.tenths))
    }

    /// Whether it stands for all that are shown so, and not for one number of bytes.
    fn is_rounded(&self) -> bool {
        self.as_shown || self.floor() != self.ceiling()
    }

    /// The fewest bytes that are shown so.
    pub(super) fn least_shown_so(&self) -> u64 {
        match (self.is_rounded(), (2 * self.decimals).checked_sub(1)) {
            (false, _) => self.floor(),
            (true, Some(halves)) => self.and((halves * self.unit).div_ceil(2 * self.tenths)),
            (true, None) => {
                // What is just below 10 is shown with two decimals.
                let finer = if (self.whole, self.tenths) == (10, 10) { 10 } else { 1 };
                self.and(0).saturating_sub(self.unit / (2 * self.tenths * finer))
            }
        }
    }

    /// The most bytes that are shown so.
    pub(super) fn most_shown_so(&self) -> u64 {
        if !self.is_rounded() {
            return self.floor();
        }
        // Half-way, it may be shown as either neighbour.
        self.and((2 * self.decimals + 1) * self.unit / (2 * self.tenths))
    }
}
