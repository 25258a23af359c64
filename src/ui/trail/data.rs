//! The windows that were looked at.

use engine::protocol::Plot;
use picture::timeline::View;

/// The windows before and after this one, and which plot each was a window of.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    pub back: Vec<(View, Plot)>,
    pub forward: Vec<(View, Plot)>,
    /// When the window changed last; `None` when the next change is a step whenever it comes.
    pub(crate) changed_ms: Option<f64>,
}

/// Which way along the trail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Back,
    Forward,
}
