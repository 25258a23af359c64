//! Share of the bytes that a key matches.

use crate::answer::{Matched, PerSide};

/// Minimum percentage of bytes that must have a known key for the key to be selected.
const MIN_KNOWN_PERCENT: u128 = 10;

impl Matched {
    /// Returns the matched bytes in parts per million of the bytes with a known key. Returns 0 if too few bytes have a
    /// known key.
    pub fn parts_per_million(&self) -> u64 {
        let sum = |two: PerSide| u128::from(two.a) + u128::from(two.b);
        let (known, total) = (sum(self.known), sum(self.total));
        if known * 100 < total * MIN_KNOWN_PERCENT {
            return 0;
        }
        (sum(self.bytes) * 1_000_000 / known.max(1)) as u64
    }

    pub(super) fn has_percent(&self, percent: u128) -> bool {
        u128::from(self.parts_per_million()) >= percent * 10_000
    }
}
