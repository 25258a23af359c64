//! State of the cursor and the range, and the facts known about them.

use crate::axis_press::Grip;
use crate::latest::Latest;
use crate::range::RangeScope;
use engine::protocol::{MomentFacts, MomentSpec, RangeFacts, Span};

/// The cursor and the range.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    /// The cursor: number of events that have happened.
    pub moment: u32,
    pub(crate) facts: Latest<u32, MomentFacts>,
    pub range: Option<Span>,
    /// Choice of the allocations that the views show.
    pub range_scope: RangeScope,
    /// Moment at which keys started the range, while they extend it.
    pub extended_from: Option<u32>,
    /// The worker's facts about the range.
    pub(crate) range_facts: Latest<Span, RangeFacts>,
    /// The worker's facts about the two ends of the range.
    pub(crate) ends: Latest<Span, [MomentFacts; 2]>,
    pub(crate) grip: Grip,
    /// Error about the typed position.
    pub error: Option<String>,
    /// Position that the worker has to resolve. With two ends, it is a range.
    pub(crate) requested: Option<PositionRequest>,
    /// The question that resolves the requested position.
    pub(crate) resolving: Latest<PositionRequest, ()>,
    /// Set when the window has to scroll to the cursor.
    pub(crate) follow: Follow,
}

/// Position to move the cursor to, once the worker has resolved it to a moment. With a second end, the range to show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PositionRequest {
    pub(crate) from: MomentSpec,
    pub(crate) to: Option<MomentSpec>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Follow {
    #[default]
    No,
    Yes,
}
