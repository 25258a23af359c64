//! Allocations of a call stack, and whether they come at even intervals.

/// Allocations made by a call stack. `first`, `second` and `last` are indices of allocations in the trace.
#[derive(Clone, Copy, Default)]
pub(super) struct Occurrences {
    pub(super) count: u32,
    pub(super) first: u32,
    pub(super) second: u32,
    pub(super) last: u32,
    pub(super) interval_squares: u128,
    /// Number of events before the stack's second allocation.
    pub(super) events_before_second: u32,
}

impl Occurrences {
    pub(super) fn is_even(&self, allocations: u64) -> bool {
        let min_share = if self.count > 3 { 2 } else { 8 };
        if self.count < 2 || u64::from(self.last - self.first) * min_share < allocations {
            return false;
        }
        let (mut from, mut distances, mut interval_squares) =
            (self.first, u128::from(self.count - 1), self.interval_squares);
        if distances > 2 {
            let first = u128::from(self.second - self.first);
            (from, distances, interval_squares) = (self.second, distances - 1, interval_squares - first * first);
        }
        let range = u128::from(self.last - from);
        let sum_of_squares = distances.saturating_mul(interval_squares);
        // Variance of the intervals ≤ (mean / 4)², or (mean / 2)² if they include the first step.
        if self.count > 3 { 16 * sum_of_squares <= 17 * range * range } else { 4 * sum_of_squares <= 5 * range * range }
    }
}
