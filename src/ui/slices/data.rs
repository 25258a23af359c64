//! A slice of the annotation tracks, and which one is pointed at.

use crate::latest::Latest;
use engine::protocol::{AxisPoint, RangeFacts, Span};

/// An annotation as it is drawn; or several that are too narrow to be told apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// Left and right edge in device pixels of the window, cut to it.
    pub x: [f64; 2],
    /// Its lane, from the top.
    pub lane: u32,
    /// Its name; of several, how many they are.
    pub name: String,
    /// Bytes of the name that another name begins with as well.
    pub shared: usize,
    /// Whether all of them have an end.
    pub ended: bool,
    pub count: u32,
    /// Its events: from the state before the first of them to the one after the last.
    pub span: Span,
    /// µs from its start to its end.
    pub micros: u64,
    /// Where it starts and ends.
    pub points: [AxisPoint; 2],
}

/// What is pointed at in the annotation tracks, and what is known of it.
#[derive(Clone, Debug, Default)]
pub struct Slices {
    /// The slice, and where the pointer is in device pixels from the window's left.
    pub hovered: Option<(Slice, f64)>,
    pub(crate) facts: Latest<Span, RangeFacts>,
    /// The annotation that keys have gone to last, by its place among the marks.
    pub(crate) at: Option<usize>,
}
