//! Keys that are held, and what a press of the pointer draws.

use crate::effect::Pointer;

/// The keys held beside another key or the pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Alt.
    pub alt: bool,
    /// Ctrl.
    pub ctrl: bool,
    /// Shift.
    pub shift: bool,
}

/// What the press that moves now does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Drag {
    /// There is none, or it was given up.
    #[default]
    None,
    /// It moves the picture.
    Move,
    /// It measures.
    Measure,
    /// It draws a box: two opposite corners.
    Box([Pointer; 2]),
}
