//! State of the terminal that the page does not have: focus, scroll positions, mouse press and pending orders.

/// The pane that receives keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Focus {
    #[default]
    Timeline,
    View,
    Side,
}

/// A request to the event loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Quit,
    Copy(String),
    Suspend,
    Redraw,
}

/// Scroll positions of panes that the page's state does not include, in lines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scrolled {
    pub(crate) report: usize,
    pub(crate) side: usize,
    pub(crate) help: usize,
    /// Index of the active item that the report was last scrolled to.
    pub(crate) report_item: Option<usize>,
}

/// A mouse press on the picture, while the button is held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Press {
    pub(crate) at: (u16, u16),
    pub(crate) is_drag: bool,
}
