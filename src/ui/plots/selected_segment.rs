//! The selected segment.

use crate::crosshair::Position;
use crate::summary::Fact;
use engine::protocol::{Grouping, HitSegment, Plot};

/// A segment that was clicked.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectedSegment {
    pub segment: HitSegment,
    /// Position of the click, as an event and a height.
    pub position: Position,
    /// Plot and order of the picture at the click.
    pub plot: (Plot, Option<Grouping>),
    /// The free range that was clicked: its first address, and an upper bound of its bytes.
    pub free: Option<(u64, u64)>,
}

/// Details of a segment.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentView {
    /// Reserved bytes, abbreviated.
    pub title: String,
    /// Call site that caused the segment to be reserved, abbreviated.
    pub site: String,
    /// Facts about the segment, in reading order.
    pub facts: Vec<Fact>,
}
