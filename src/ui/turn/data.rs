//! The selection that is to stay in view.

/// The selection at a moment of the window, while it is looked for in another order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Kept {
    pub(crate) allocation: u32,
    pub(crate) moment: u32,
    pub(crate) asked: Option<u32>,
}
