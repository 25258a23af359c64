//! The selection to keep in view.

/// The selection at a moment of the window, while its position in another stacking order is requested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct KeptSelection {
    pub(crate) allocation: u32,
    pub(crate) moment: u32,
    pub(crate) asked: Option<u32>,
}
