//! The median of a running total without storing or sorting it: a few passes, each finding up to 16 more bits of the answer.

/// The most buckets of one pass, as a power of two.
const MOST_BUCKET_BITS: u32 = 16;

/// The search. Feed it every total of a pass, in any order, then call [`Median::narrow`]; repeat until that returns the answer.
pub(super) struct Median {
    counts: Vec<u64>,
    /// How many buckets there are, as a power of two: few for few values, or the buckets would cost more than the passes.
    bucket_bits: u32,
    /// The values that can still be it: `low..low + 2^bits`.
    low: i64,
    bits: u32,
    /// How many values below `low` to skip, among those still possible.
    rank: u64,
}

impl Median {
    /// Among `count` values between `min` and `max`, the one with as many before it as after (the lower of two).
    pub(super) fn new(min: i64, max: i64, count: u64) -> Median {
        let span = max.abs_diff(min);
        let bucket_bits = (u64::BITS - count.leading_zeros()).clamp(4, MOST_BUCKET_BITS);
        let bits = (u64::BITS - span.leading_zeros()).next_multiple_of(bucket_bits).max(bucket_bits);
        Median { counts: vec![0; 1 << bucket_bits], bucket_bits, low: min, bits, rank: count.saturating_sub(1) / 2 }
    }

    /// One total of this pass.
    #[inline(always)]
    pub(super) fn add(&mut self, total: i64) {
        if total >= self.low {
            let bucket = total.abs_diff(self.low) >> (self.bits - self.bucket_bits);
            if let Some(count) = usize::try_from(bucket).ok().and_then(|bucket| self.counts.get_mut(bucket)) {
                *count += 1;
            }
        }
    }

    /// Ends a pass: the median, or `None` when another pass is needed.
    pub(super) fn narrow(&mut self) -> Option<i64> {
        let mut bucket = 0;
        while let Some(&count) = self.counts.get(bucket).filter(|&&count| count <= self.rank) {
            self.rank -= count;
            bucket += 1;
        }
        self.bits -= self.bucket_bits;
        // Never beyond the largest value, which is one of them.
        self.low = self.low.wrapping_add_unsigned((bucket as u64) << self.bits);
        self.counts.fill(0);
        (self.bits == 0).then_some(self.low)
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/replay/median.rs"]
mod tests;
