//! Slices, which are the bars of the annotation tracks, and the hovered slice.

use crate::state::latest::Latest;
use protocol::{AxisPoint, RangeFacts, RangeSource, Span};

/// A bar in an annotation track. It represents one annotation or phase, or several that are too narrow to be drawn
/// separately.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// Left and right edge in device pixels, clipped to the window.
    pub x: [f64; 2],
    /// Index of the track, counted from the top.
    pub lane: u32,
    /// Name of the annotation or phase. If several were merged, their number.
    pub name: String,
    pub source: RangeSource,
    /// Length in bytes of the prefix that the name has in common with another name.
    pub shared_prefix: usize,
    /// False if the end of an annotation in the slice was not recorded.
    pub has_end: bool,
    pub count: u32,
    /// Moments before the first event and after the last event of the slice.
    pub span: Span,
    /// Duration in microseconds.
    pub duration_us: u64,
    /// Start and end, each as a position on both axes.
    pub points: [AxisPoint; 2],
}

/// State of the annotation tracks: the hovered slice, and facts about its events.
#[derive(Clone, Debug, Default)]
pub struct Slices {
    /// The hovered slice, and the column of the pointer in device pixels from the window's left edge.
    pub hovered: Option<(Slice, f64)>,
    pub(crate) facts: Latest<Span, RangeFacts>,
    /// Index among the marks of the annotation that was last selected by keys.
    pub(crate) last_visited: Option<usize>,
}
