//! Slices of the annotation tracks, and the hovered one.

use crate::latest::Latest;
use engine::protocol::{AxisPoint, RangeFacts, Span};

/// An annotation as drawn, or several that are too narrow to be drawn separately.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// Left and right edge in device pixels, clipped to the window.
    pub x: [f64; 2],
    /// Index of its track, from the top.
    pub lane: u32,
    /// Name of the annotation, or the number of merged ones.
    pub name: String,
    /// Length in bytes of the prefix that the name shares with another name.
    pub shared_prefix: usize,
    /// True if all of its annotations have an end.
    pub has_end: bool,
    pub count: u32,
    /// Range from the state before its first event to the state after its last.
    pub span: Span,
    /// Duration in µs.
    pub duration_us: u64,
    /// Start and end on both axes.
    pub points: [AxisPoint; 2],
}

/// The hovered slice and the facts about it.
#[derive(Clone, Debug, Default)]
pub struct Slices {
    /// The hovered slice, and the pointer's column in device pixels from the window's left.
    pub hovered: Option<(Slice, f64)>,
    pub(crate) facts: Latest<Span, RangeFacts>,
    /// The annotation last visited by keys, as an index into the marks.
    pub(crate) last_visited: Option<usize>,
}
