//! Facts about a range of the trace.

use super::{Span, Weight};
use serde::{Deserialize, Serialize};

/// Totals of a range, in requested bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangeFacts {
    pub span: Span,
    pub allocated: Weight,
    pub freed: Weight,
    /// Allocated in the range and still live at its end.
    pub kept: Weight,
    /// Maximum live bytes in the range, both ends included.
    pub peak: u64,
    /// First moment with `peak` live bytes.
    pub peak_moment: u32,
    /// Live bytes at the start.
    pub at_begin: u64,
    /// Live bytes at the end.
    pub at_end: u64,
}
