//! Driver requests of the ledger.

use super::kinds::Reason;

/// A request to the driver: a `segment_alloc` or `segment_map` event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DriverRequest {
    pub(crate) event: u32,
    /// Event of the allocation or OOM that caused it, or `event` if it is unknown. Times are counted to here.
    pub(crate) cause: u32,
    /// Index into [`SegmentLifetimes::kinds`](history::replay::SegmentLifetimes::kinds).
    pub(crate) kind: u32,
    /// Stranded bytes by [`Reason`].
    pub(crate) stranded: [u64; 4],
}

impl DriverRequest {
    pub(crate) fn bytes(&self, reason: Reason) -> u64 {
        self.stranded[reason as usize]
    }

    pub(crate) fn total(&self) -> u64 {
        self.stranded.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }
}
