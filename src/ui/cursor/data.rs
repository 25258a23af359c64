//! State of the cursor and the range, and the worker's facts about them.

use crate::axis_press::Grip;
use crate::latest::Latest;
use crate::range::RangeScope;
use engine::protocol::{MomentFacts, MomentSpec, RangeFacts, Span};

/// The cursor and the range.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    /// Position of the cursor: the number of events before it.
    pub moment: u32,
    pub(crate) facts: Latest<u32, MomentFacts>,
    pub range: Option<Span>,
    /// Allocations that the views show for the cursor and the range.
    pub range_scope: RangeScope,
    /// Moment at which the range was started by keys. `None` unless keys are extending it.
    pub extended_from: Option<u32>,
    /// The worker's facts about the range.
    pub(crate) range_facts: Latest<Span, RangeFacts>,
    /// The worker's facts about the two ends of the range.
    pub(crate) ends: Latest<Span, [MomentFacts; 2]>,
    pub(crate) grip: Grip,
    /// Error message about the typed position.
    pub error: Option<String>,
    /// Position or range for which the worker has to find the moments.
    pub(crate) requested: Option<PositionRequest>,
    /// The pending question for the moments of `requested`.
    pub(crate) resolving: Latest<PositionRequest, ()>,
    /// `Yes` if the window has to scroll to the cursor.
    pub(crate) follow: Follow,
}

/// Position for the cursor, whose moment the worker has to find. With a second end, a range to select.
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
