//! What is known of a range of the trace.

use super::{Span, Weight};
use serde::{Deserialize, Serialize};

/// What happened in a range; all bytes are requested bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangeFacts {
    pub span: Span,
    pub born: Weight,
    pub freed: Weight,
    /// What was allocated in it and is still live at its end.
    pub kept: Weight,
    /// The most that was live at once in it, both ends included…
    pub peak: u64,
    /// …and the first moment at which it was.
    pub peak_moment: u32,
    /// What is live where it begins.
    pub at_begin: u64,
    /// What is live where it ends.
    pub at_end: u64,
}
