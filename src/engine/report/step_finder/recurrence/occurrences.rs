//! Allocations of a call stack, and whether they occur at even intervals.

/// Allocations made by a call stack. `first`, `second` and `last` are indices of allocations in the trace.
#[derive(Clone, Copy, Default)]
pub(super) struct Occurrences {
    pub(super) count: u32,
    pub(super) first: u32,
    second: u32,
    last: u32,
    interval_squares: u128,
    /// Number of events before the stack's second allocation.
    pub(super) events_before_second: u32,
    /// True if an allocation is freed.
    pub(super) has_free: bool,
}

impl Occurrences {
    /// Creates the occurrences of a stack that has allocated once. `now` is the index of the allocation, `is_freed`
    /// whether it is freed.
    pub(super) fn new(now: u32, is_freed: bool) -> Occurrences {
        Occurrences { count: 1, first: now, last: now, has_free: is_freed, ..Occurrences::default() }
    }

    /// Adds the allocation with the index `now`, made by `event`.
    pub(super) fn add(&mut self, now: u32, event: u32, is_freed: bool) {
        let distance = u128::from(now - self.last);
        self.has_free |= is_freed;
        self.count += 1;
        self.last = now;
        self.interval_squares += distance * distance;
        if self.count == 2 {
            (self.second, self.events_before_second) = (now, event);
        }
    }

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
