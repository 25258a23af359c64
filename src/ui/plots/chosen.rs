//! The segment that is chosen.

use crate::cursor::Standing;
use crate::summary::Fact;
use engine::protocol::{Grouping, HitSegment, Plot};

/// A segment that was clicked.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    pub segment: HitSegment,
    /// Where it was clicked: after so many events, at this height…
    pub at: Standing,
    /// …of a picture in this order.
    pub seen_in: (Plot, Option<Grouping>),
    /// The free bytes that were clicked, first address and at most how many.
    pub free: Option<(u64, u64)>,
}

/// The details of a segment.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentView {
    /// Its reserved bytes, short.
    pub title: String,
    /// Who made the driver be asked, in short.
    pub site: String,
    /// What is known of it, in reading order.
    pub facts: Vec<Fact>,
}
