//! The lines over what was reserved.

use engine::protocol::{Curves, Only};
use picture::shapes::Tint;
use picture::timeline::{Axis, View};

/// A device, by its ordinal, and a part of its memory.
pub(crate) type Whose = (i64, Only);

/// What totals over columns are of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Curved {
    /// The device's ordinal.
    pub(crate) device: i64,
    pub(crate) view: View,
    pub(crate) only: Only,
}

/// A line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Line {
    /// What was held from the driver.
    Reserved,
    Rounded,
    Requested,
    /// That of those whose free was not requested.
    Allocated,
    Pending,
    /// The part of what was reserved that is free, at the axis to the right.
    Free,
    /// Live bytes without what is selected, or under a plan.
    Planned,
}

impl Line {
    /// All over what was reserved, in the order of the key.
    pub const ALL: [Line; 6] =
        [Line::Reserved, Line::Rounded, Line::Requested, Line::Allocated, Line::Pending, Line::Free];

    /// Its name, kind of bytes included.
    pub fn label(self) -> &'static str {
        match self {
            Line::Reserved => "reserved",
            Line::Rounded => "allocated (rounded) ≥",
            Line::Requested => "live, requested",
            Line::Allocated => "in use, requested",
            Line::Pending => "awaiting free, requested",
            Line::Free => "free share ≤",
            Line::Planned => "as planned, requested",
        }
    }

    /// Its colour.
    pub fn tint(self) -> Tint {
        match self {
            Line::Reserved | Line::Planned => Tint::Strong,
            Line::Rounded | Line::Requested => Tint::Accent,
            Line::Allocated | Line::Pending => Tint::Allocated,
            Line::Free => Tint::Peak,
        }
    }

    /// Its dashes and gaps in CSS pixels; none where it is drawn through.
    pub fn dash(self) -> &'static [f64] {
        match self {
            Line::Reserved | Line::Requested => &[],
            Line::Rounded => &[7.0, 3.0],
            Line::Allocated => &[10.0, 2.0, 2.0, 2.0],
            Line::Pending => &[2.0, 3.0],
            Line::Free => &[4.0, 3.0],
            Line::Planned => &[6.0, 2.0],
        }
    }

    pub(crate) fn values(self, curves: &Curves) -> &[u64] {
        match self {
            Line::Reserved => &curves.reserved,
            Line::Rounded => &curves.rounded,
            Line::Requested => &curves.requested,
            Line::Allocated => &curves.allocated,
            Line::Pending => &curves.pending,
            Line::Free => &curves.free,
            Line::Planned => &[],
        }
    }
}

/// Totals that the worker is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wanted {
    Window(Curved),
    Whole(Whose, Axis, View),
}

impl Wanted {
    pub(crate) fn question(self) -> (i64, View, Only) {
        match self {
            Wanted::Window(Curved { device, view, only }) => (device, view, only),
            Wanted::Whole((device, only), _, view) => (device, view, only),
        }
    }
}

/// A line in a window: its corners in pixels from the left and the bottom.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    pub line: Line,
    /// Its corners, from left to right; y upwards.
    pub points: Vec<[f64; 2]>,
    pub mark: Option<Mark>,
}

/// What is said at a point of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Likewise.
    pub at: [f64; 2],
    pub text: String,
}

/// An entry of the key.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyEntry {
    pub line: Line,
    pub is_on: bool,
}
