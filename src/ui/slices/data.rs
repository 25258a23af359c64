//! Slices (the drawn annotations) of the annotation tracks, and the hovered one.

use crate::latest::Latest;
use engine::protocol::{AxisPoint, RangeFacts, Span};

/// A bar of an annotation track: one annotation, or several that are too narrow to be drawn separately.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// Left and right edge in device pixels, clipped to the window.
    pub x: [f64; 2],
    /// Index of the track, from the top.
    pub lane: u32,
    /// Name of the annotation, or the number of merged ones.
    pub name: String,
    /// Length in bytes of the prefix that the name shares with another name.
    pub shared_prefix: usize,
    /// True if the end of every annotation in it was recorded.
    pub has_end: bool,
    pub count: u32,
    /// Range of moments from before the first event to after the last one.
    pub span: Span,
    /// Duration in microseconds.
    pub duration_us: u64,
    /// Start and end on both axes.
    pub points: [AxisPoint; 2],
}

/// State of the annotation tracks: the hovered slice and the facts about it.
#[derive(Clone, Debug, Default)]
pub struct Slices {
    /// The hovered slice, and the pointer's column in device pixels from the window's left edge.
    pub hovered: Option<(Slice, f64)>,
    pub(crate) facts: Latest<Span, RangeFacts>,
    /// Index (among the marks) of the annotation that keys visited last.
    pub(crate) last_visited: Option<usize>,
}
