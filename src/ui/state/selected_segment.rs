//! The selected segment and its details.

use crate::state::crosshair::Position;
use crate::text::summary::Fact;
use protocol::{Grouping, HitSegment, Plot};

/// A segment that was clicked.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectedSegment {
    pub segment: HitSegment,
    /// Position of the click, as a moment and a height.
    pub position: Position,
    /// Plot and stacking order at the time of the click.
    pub plot: (Plot, Option<Grouping>),
    /// The free range that was clicked: its first address, and an upper bound of its bytes.
    pub free: Option<(u64, u64)>,
}

/// Details of a segment.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentView {
    /// Reserved bytes, abbreviated.
    pub title: String,
    /// Call site of the allocation for which the segment was reserved.
    pub site: String,
    /// Facts about the segment, in reading order.
    pub facts: Vec<Fact>,
}
