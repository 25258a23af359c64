//! State of the history of windows.

use engine::protocol::Plot;
use picture::timeline::View;

/// The windows before and after the current one, each with its plot.
#[derive(Clone, Debug, Default)]
pub struct WindowHistory {
    pub back: Vec<(View, Plot)>,
    pub forward: Vec<(View, Plot)>,
    /// Time in ms of the last change of the window. `None` if the next change starts a new step in any case.
    pub(crate) changed_ms: Option<f64>,
}

/// Direction in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HistoryDirection {
    Back,
    Forward,
}
