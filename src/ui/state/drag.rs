//! State of a drag on the timeline.

use crate::state::effect::Pointer;

/// Current drag of the pointer on the timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Drag {
    #[default]
    None,
    Move,
    Measure,
    /// A zoom box is being drawn. Holds two opposite corners.
    Box([Pointer; 2]),
}
