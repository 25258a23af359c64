//! What a press of the pointer draws.

use crate::effect::Pointer;

/// What the press that moves now does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Drag {
    /// There is none, or it was given up.
    #[default]
    None,
    Move,
    Measure,
    /// It draws a box: two opposite corners.
    Box([Pointer; 2]),
}
