//! The selected allocation that stays in view when the stacking order changes.

/// The allocation to keep in view when the stacking order changes, and a moment in the window at which it is live.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct KeptSelection {
    pub(crate) allocation: u32,
    pub(crate) moment: u32,
    /// Serial of the request for the new position. `None` until the request is sent.
    pub(crate) asked: Option<u32>,
}
