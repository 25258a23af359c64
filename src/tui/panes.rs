//! State of the terminal interface that the page does not have: focus, scroll positions, mouse press and requests to
//! the event loop.

/// The pane that receives keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Focus {
    #[default]
    Timeline,
    View,
    Side,
}

/// A request to the event loop that runs the terminal interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Quit,
    Copy(String),
    Suspend,
    Redraw,
}

/// Scroll positions, in lines, of panes whose position is not part of the page's state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scrolled {
    pub(crate) report: usize,
    pub(crate) side: usize,
    pub(crate) help: usize,
    /// Index of the active item when the report was last scrolled automatically.
    pub(crate) report_item: Option<usize>,
}

/// A mouse press on the picture, while the button is held down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Press {
    pub(crate) at: (u16, u16),
    pub(crate) is_drag: bool,
}
