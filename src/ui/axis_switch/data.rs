//! The selection that stays in view when the stacking order changes.

/// The selected allocation, at a moment in the window, to keep in view when the stacking order changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct KeptSelection {
    pub(crate) allocation: u32,
    pub(crate) moment: u32,
    /// Serial of the question about the new position, once sent.
    pub(crate) asked: Option<u32>,
}
