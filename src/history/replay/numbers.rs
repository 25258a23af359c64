//! Key figures of one device.

/// Key figures of one device. Bytes are requested bytes unless noted. Sums saturate at the limits of `i64`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceFigures {
    /// Number of allocations: allocations made in the trace, allocations that are freed in the trace but made before,
    /// and blocks that are live at the end and have no event.
    pub allocations: u64,
    /// Live bytes before the first event (baseline): live bytes at the end minus the net change in the trace.
    pub baseline: i64,
    pub peak: i64,
    /// Event after which the peak is first reached, or −1 for the state before the first event.
    pub peak_event: i64,
    pub min: i64,
    /// Mean of the live bytes over all states, including the state before the first event.
    pub mean: f64,
    /// Median of the live bytes over the same states. For an even number of states, the lower of the two middle values.
    pub median: i64,
    /// Mean of the live bytes, weighted by the duration of each state from the first event to the last. `None` if the
    /// file has no times or the duration is zero.
    pub time_weighted_mean: Option<f64>,
    pub end: u64,
    /// Block sizes, as rounded by the allocator, of all blocks that are live at the end.
    pub end_rounded: u64,
    /// Number of frees of blocks that were allocated before recording.
    pub unmatched_frees: u64,
    /// Requested bytes of the blocks in `unmatched_frees`.
    pub unmatched_free_bytes: u64,
    /// Number of blocks that are live at the end and have no event in the trace.
    pub static_blocks: u64,
    /// Requested bytes of the blocks in `static_blocks`.
    pub static_bytes: u64,
    /// Unexplained part of the baseline: `baseline` − `unmatched_free_bytes` − `static_bytes`. 0 if the file is
    /// complete, negative if the file contradicts itself.
    pub remainder: i64,
    /// Reserved bytes before the first event.
    pub reserved_start: i64,
    pub reserved_end: u64,
    /// Maximum of the reserved bytes.
    pub peak_reserved: i64,
    pub segments: u64,
    pub annotations: u64,
    /// First and latest recorded time of the trace, in µs since 1970. `None` if the file has no times.
    pub time_us: Option<(i64, i64)>,
    /// Maximum height of the drawn stack in bytes. Equal to the peak of the live bytes, except in corrupt files with
    /// overlapping blocks.
    pub drawn_peak: u64,
}

impl DeviceFigures {
    /// Returns true if a sum reached a limit of `i64`. The totals are then wrong.
    pub fn is_saturated(&self) -> bool {
        let ends = [self.end, self.end_rounded, self.reserved_end, self.drawn_peak];
        let is_at_limit = |sum: i64| sum == i64::MAX || sum <= -i64::MAX;
        [self.baseline, self.peak, self.min, self.peak_reserved, self.reserved_start].into_iter().any(is_at_limit)
            || ends.into_iter().any(|sum| sum >= i64::MAX as u64)
    }
}
