//! Memory totals for a range of the trace.

use super::{Span, Weight};
use serde::{Deserialize, Serialize};

/// Memory totals for a range of the trace, in requested bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangeFacts {
    pub span: Span,
    pub allocated: Weight,
    pub freed: Weight,
    /// Allocations made in the range and still live at its end.
    pub still_live: Weight,
    /// Maximum live bytes in the range, both ends included.
    pub peak: u64,
    /// First moment with `peak` live bytes.
    pub peak_moment: u32,
    /// Live bytes at the start of the range.
    pub live_at_start: u64,
    /// Live bytes at the end of the range.
    pub live_at_end: u64,
}
