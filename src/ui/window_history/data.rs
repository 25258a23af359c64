//! State of the history of windows.

use engine::protocol::Plot;
use picture::timeline::View;

/// The windows before and after the current one, each with its plot.
#[derive(Clone, Debug, Default)]
pub struct WindowHistory {
    pub back: Vec<(View, Plot)>,
    pub forward: Vec<(View, Plot)>,
    /// Time of the last change in ms. `None` if the next change is a new step at any time.
    pub(crate) changed_ms: Option<f64>,
}

/// Direction in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HistoryDirection {
    Back,
    Forward,
}
