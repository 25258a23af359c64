//! State of the ruler.

use crate::state::point::Point;

/// State of the ruler: its mode and its ends.
#[derive(Clone, Debug, Default)]
pub struct Ruler {
    pub mode: Mode,
    /// The two ends of the ruler. `None` if no ruler is drawn.
    pub ends: Option<[Point; 2]>,
    pub(crate) second_end: SecondEnd,
}

/// Mode of the ruler. While it is on, dragging on the timeline measures instead of panning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Dragging pans the timeline.
    #[default]
    Off,
    On,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SecondEnd {
    #[default]
    Fixed,
    FollowsCrosshair,
}

/// Result of fixing the second end of the ruler: fixed now, or fixed before.
#[derive(PartialEq, Eq)]
pub(crate) enum FixResult {
    Now,
    Already,
}

/// Result of removing the ruler. `NothingThere` if no ruler was drawn.
#[derive(PartialEq, Eq)]
pub(crate) enum Removed {
    Yes,
    NothingThere,
}
