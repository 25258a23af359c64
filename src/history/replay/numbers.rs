//! Key figures of one device, defined in DESIGN §2.

/// Key figures of one device. Bytes are requested bytes unless noted. Sums saturate at the limits of `i64`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceFigures {
    /// Number of allocations: those made in the trace, those freed in it but allocated before, and those that are live
    /// at the end and have no event.
    pub allocations: u64,
    /// Live bytes before the first event (baseline): live bytes at the end minus the net change in the trace.
    pub baseline: i64,
    pub peak: i64,
    /// Event after which the peak is first reached, or −1 for the state before the first event.
    pub peak_event: i64,
    pub min: i64,
    /// Mean over all states, including the one before the first event.
    pub mean: f64,
    /// Median over the same states. For an even number, the lower of the two middle values.
    pub median: i64,
    /// Mean weighted by the duration of each state, from the first event to the last. `None` without times or duration.
    pub time_weighted_mean: Option<f64>,
    pub end: u64,
    /// Bytes of the blocks that are live at the end, as rounded by the allocator.
    pub end_rounded: u64,
    /// Number of frees of blocks that were allocated before recording.
    pub unmatched_frees: u64,
    /// Requested bytes of these frees.
    pub unmatched_free_bytes: u64,
    /// Number of blocks that are live at the end and have no event in the trace.
    pub static_blocks: u64,
    /// Requested bytes of these blocks.
    pub static_bytes: u64,
    /// Unexplained part of the baseline: `baseline` − `unmatched_free_bytes` − `static_bytes`. 0 if the file is
    /// complete, negative if it contradicts itself.
    pub remainder: i64,
    /// Reserved bytes before the first event.
    pub reserved_start: i64,
    pub reserved_end: u64,
    /// Maximum of the reserved bytes.
    pub peak_reserved: i64,
    pub segments: u64,
    pub annotations: u64,
    /// First and last time of an event, in µs since 1970, if recorded.
    pub time_us: Option<(i64, i64)>,
    /// Maximum height of the drawn stack in bytes. Equal to the peak, except in corrupt files with overlapping blocks.
    pub drawn_peak: u64,
}

impl DeviceFigures {
    /// Returns whether a sum reached a limit of `i64`, so that totals are wrong.
    pub fn is_saturated(&self) -> bool {
        let ends = [self.end, self.end_rounded, self.reserved_end, self.drawn_peak];
        let is_at_limit = |sum: i64| sum == i64::MAX || sum <= -i64::MAX;
        [self.baseline, self.peak, self.min, self.peak_reserved, self.reserved_start].into_iter().any(is_at_limit)
            || ends.into_iter().any(|sum| sum >= i64::MAX as u64)
    }
}
