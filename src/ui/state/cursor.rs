//! State of the cursor and the range, and the worker's facts about them.

use crate::state::axis_press::Grip;
use crate::state::latest::Latest;
use crate::state::range::RangeScope;
use protocol::{MomentFacts, MomentSpec, RangeFacts, Span};

/// The cursor, the selected range, and the worker's facts about both.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    /// Position of the cursor, as the number of events that precede it.
    pub moment: u32,
    pub(crate) facts: Latest<u32, MomentFacts>,
    pub range: Option<Span>,
    /// Filter for the allocations that the views list while a range is selected.
    pub range_scope: RangeScope,
    /// Moment at which keys started the range. `None` unless keys are extending a range.
    pub extended_from: Option<u32>,
    /// The worker's facts about the range.
    pub(crate) range_facts: Latest<Span, RangeFacts>,
    /// The worker's facts about the two ends of the range.
    pub(crate) ends: Latest<Span, [MomentFacts; 2]>,
    pub(crate) grip: Grip,
    /// Error message about a typed position.
    pub error: Option<String>,
    /// Position or range whose moments the worker has to find.
    pub(crate) requested: Option<PositionRequest>,
    /// The pending request for the moments of `requested`.
    pub(crate) resolving: Latest<PositionRequest, ()>,
    /// `Yes` if the window has to scroll to the cursor in the next update.
    pub(crate) follow: Follow,
}

/// Position to move the cursor to, once the worker has found its moment. With a second position, a range to select.
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
