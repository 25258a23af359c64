//! The numbers of one device, defined as in DESIGN §2.

/// Bytes are requested bytes unless the name says otherwise. Sums that leave 64 signed bits stay at the limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    /// Allocations in the trace, freed in it but born before, and live at the end without an event.
    pub allocations: u64,
    /// Live before the first event: what is live at the end minus the trace's net.
    pub base: i64,
    pub peak: i64,
    /// The first event after which the peak holds; −1 when it holds before the first.
    pub peak_event: i64,
    pub min: i64,
    /// Mean over all states, the one before the first event included.
    pub mean: f64,
    /// Median over the same states (the lower of two).
    pub median: i64,
    /// Mean weighted by how long each state held, from the first event to the last; `None` without times or a span.
    pub time_weighted_mean: Option<f64>,
    pub end: u64,
    /// The same blocks as the allocator rounded them.
    pub end_rounded: u64,
    /// Frees of blocks that were allocated before recording.
    pub unmatched_frees: u64,
    /// Their bytes.
    pub unmatched_free_bytes: u64,
    /// Blocks live at the end that the trace does not know.
    pub static_blocks: u64,
    /// Their bytes.
    pub static_bytes: u64,
    /// base − unmatched − static: 0 when the file is whole; positive, unexplained bytes.
    pub remainder: i64,
    /// Reserved before the first event.
    pub reserved_start: i64,
    pub reserved_end: u64,
    /// The largest number of reserved bytes.
    pub peak_reserved: i64,
    pub segments: u64,
    pub annotations: u64,
    /// First and last time of an event, where recorded.
    pub time_us: Option<(i64, i64)>,
    /// The highest stack drawn: the peak, unless blocks overlap in a broken file.
    pub drawn_peak: u64,
}

impl Numbers {
    /// Whether a sum left 64 signed bits, so that totals are not true.
    pub fn is_at_limit(&self) -> bool {
        let ends = [self.end, self.end_rounded, self.reserved_end, self.drawn_peak];
        let beyond = |sum: i64| sum == i64::MAX || sum <= -i64::MAX;
        [self.base, self.peak, self.min, self.peak_reserved, self.reserved_start].into_iter().any(beyond)
            || ends.into_iter().any(|sum| sum >= i64::MAX as u64)
    }
}
