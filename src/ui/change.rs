//! What can change under a feature, and when features ask.

/// What has changed under a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Another file is open, or none; a change of the device follows.
    File,
    /// Another device is shown, from the beginning.
    Device,
    /// Another of the devices that are shown together has the focus.
    Lane,
    Categories,
    InternalFrames,
}

impl Change {
    /// Whether another device has come into view: what was said of the one before holds no more.
    pub(super) fn is_of_device(self) -> bool {
        matches!(self, Change::Device | Change::Lane)
    }
}

/// When a feature asks, from first to last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Before anything that rests on categories or on the arrangement of stacks.
    Ground,
    /// Before the scene: what the look of the scene follows from.
    Early,
    WithScene,
    /// Once the scene of the window is there: the picture comes first.
    AfterScene,
    /// After everything else.
    Last,
}
