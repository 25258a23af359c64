//! Median of a running total without sorting it. A few passes over the values each find up to 16 more bits of the
//! result.

/// Maximum number of buckets per pass, as an exponent of two.
const MAX_BUCKET_BITS: u32 = 16;

/// Median search. Call [`Median::add`] for every total, in any order, then [`Median::narrow`]. Repeat both until
/// `narrow` returns the median.
pub(super) struct Median {
    counts: Vec<u64>,
    /// Number of buckets, as an exponent of two. Smaller for few values, because many buckets would cost more than
    /// additional passes.
    bucket_bits: u32,
    /// Lowest remaining candidate. The candidates are `low..low + 2^bits`.
    low: i64,
    bits: u32,
    /// Index of the median among the remaining candidates in sorted order.
    rank: u64,
}

impl Median {
    /// Starts a search among `count` values between `min` and `max`. For an even number of values, the result is the
    /// lower of the two middle values.
    pub(super) fn new(min: i64, max: i64, count: u64) -> Median {
        let span = max.abs_diff(min);
        let bucket_bits = (u64::BITS - count.leading_zeros()).clamp(4, MAX_BUCKET_BITS);
        let bits = (u64::BITS - span.leading_zeros()).next_multiple_of(bucket_bits).max(bucket_bits);
        Median { counts: vec![0; 1 << bucket_bits], bucket_bits, low: min, bits, rank: count.saturating_sub(1) / 2 }
    }

    /// Adds a total to the current pass.
    #[inline(always)]
    pub(super) fn add(&mut self, total: i64) {
        if total >= self.low {
            let bucket = total.abs_diff(self.low) >> (self.bits - self.bucket_bits);
            if let Some(count) = usize::try_from(bucket).ok().and_then(|bucket| self.counts.get_mut(bucket)) {
                *count += 1;
            }
        }
    }

    /// Ends a pass. Returns the median, or `None` if another pass is needed.
    pub(super) fn narrow(&mut self) -> Option<i64> {
        let mut bucket = 0;
        while let Some(&count) = self.counts.get(bucket).filter(|&&count| count <= self.rank) {
            self.rank -= count;
            bucket += 1;
        }
        self.bits -= self.bucket_bits;
        // The bucket contains at least one of the values, so this cannot overflow.
        self.low = self.low.wrapping_add_unsigned((bucket as u64) << self.bits);
        self.counts.fill(0);
        (self.bits == 0).then_some(self.low)
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/replay/median.rs"]
mod tests;
