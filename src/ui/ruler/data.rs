//! The ruler's ends.

use crate::tools::Point;

/// The ruler.
#[derive(Clone, Debug, Default)]
pub struct Ruler {
    /// Whether a drag measures instead of moving.
    pub mode: Mode,
    /// Both ends, once there are any.
    pub ends: Option<[Point; 2]>,
    pub(crate) second: Second,
}

/// Whether a drag measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// It moves the picture.
    #[default]
    Off,
    On,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Second {
    #[default]
    Fixed,
    FollowsCursor,
}

/// Whether the ruler went with the cursor until now.
#[derive(PartialEq, Eq)]
pub(crate) enum Fixed {
    Now,
    Already,
}

/// Whether there was a ruler.
#[derive(PartialEq, Eq)]
pub(crate) enum Removed {
    Yes,
    NothingThere,
}
