//! Running totals of a simulated allocator, and counts of the rules that it applied.

/// Running totals of a simulated allocator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub reserved: u64,
    /// Maximum of `reserved`, including short peaks within an event.
    pub peak_reserved: u64,
    /// Bytes of blocks that are live or awaiting free.
    pub allocated: u64,
    pub segment_allocs: u64,
    pub segment_frees: u64,
    pub maps: u64,
    pub unmaps: u64,
    pub retries: u64,
}

impl Totals {
    /// Returns the number of driver calls that allocated or released memory.
    pub fn driver_calls(&self) -> u64 {
        self.segment_allocs + self.segment_frees + self.maps + self.unmaps
    }
}

/// Number of times that each rule of the allocator affected a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exercised {
    /// Number of requests with a choice between several sufficiently large free blocks.
    pub choices: u64,
    /// Number of choices between free blocks of equal size, which their address or age decided.
    pub ties: u64,
    pub splits: u64,
    /// Number of allocated blocks that are larger than requested, because the remainder was too small to split off.
    pub tails: u64,
    pub merges: u64,
    /// Number of smaller free blocks that were skipped because their expandable segment can still grow behind them.
    pub skips: u64,
    /// Number of new segments that are not expandable.
    pub segments: u64,
    /// Number of mapped pages of expandable segments.
    pub pages: u64,
    /// Number of decisions affected by `max_split_size` or `max_non_split_rounding`.
    pub unsplit: u64,
    pub rounded_up: u64,
    pub collections: u64,
    pub releases: u64,
    pub retries: u64,
    /// Number of requests on any stream other than the first.
    pub streams: u64,
    /// Number of frees that had to wait for another stream.
    pub awaited: u64,
    /// Number of requests in private pools.
    pub private: u64,
    /// Number of deferred frees that completed because all cached memory was released.
    pub completed: u64,
    /// Number of private pools whose memory was released.
    pub retired: u64,
    /// Number of requests whose segment size depends on `large_segment_size_mb`.
    pub large_segments: u64,
}
