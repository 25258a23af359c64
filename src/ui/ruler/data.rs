//! State of the ruler.

use crate::tools::Point;

/// State of the ruler.
#[derive(Clone, Debug, Default)]
pub struct Ruler {
    pub mode: Mode,
    /// The two ends, if there is a ruler.
    pub ends: Option<[Point; 2]>,
    pub(crate) second_end: SecondEnd,
}

/// Action of a drag on the timeline: panning or measuring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// A drag pans the timeline.
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

/// Result of fixing the second end of the ruler: fixed now, or already fixed before.
#[derive(PartialEq, Eq)]
pub(crate) enum FixResult {
    Now,
    Already,
}

/// Result of removing the ruler.
#[derive(PartialEq, Eq)]
pub(crate) enum Removed {
    Yes,
    NothingThere,
}
