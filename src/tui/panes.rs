//! Which pane has the focus, how far panes are scrolled, what is pressed, what the terminal is to do: the shell's own state.

/// Which pane keys are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Focus {
    #[default]
    Timeline,
    View,
    Side,
}

/// What the terminal is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Quit,
    Copy(String),
    Suspend,
    Redraw,
}

/// Lines that are scrolled away at the top of the panes that the page's state knows nothing of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scrolled {
    pub(crate) report: usize,
    pub(crate) side: usize,
    pub(crate) help: usize,
    /// The active item for which the report was scrolled.
    pub(crate) report_item: Option<usize>,
}

/// A press of the button on the picture, as long as it is held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Press {
    pub(crate) at: (u16, u16),
    pub(crate) is_drag: bool,
}
