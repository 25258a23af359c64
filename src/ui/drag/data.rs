//! State of a drag on the timeline.

use crate::effect::Pointer;

/// Kind of the current drag.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Drag {
    /// No drag, or a cancelled one.
    #[default]
    None,
    Move,
    Measure,
    /// Draws a box, given by two opposite corners.
    Box([Pointer; 2]),
}
