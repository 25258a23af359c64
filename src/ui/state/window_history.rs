//! State of the history of visible windows.

use picture::timeline::View;
use protocol::Plot;

/// The windows before and after the current one, each with the plot that it shows.
#[derive(Clone, Debug, Default)]
pub struct WindowHistory {
    pub back: Vec<(View, Plot)>,
    pub forward: Vec<(View, Plot)>,
    /// Time of the last change of the window, in ms. `None` if the next change must start a new step.
    pub(crate) changed_ms: Option<f64>,
}

/// Direction of a step in the history: undo or redo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HistoryDirection {
    Back,
    Forward,
}
