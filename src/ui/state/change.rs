//! Changes that invalidate the state of features, and the phases of an update, which order the features' requests to
//! the worker.

/// An event that may invalidate data derived from the file, the device or the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Another file was opened, or the file was closed. [`Change::Device`] follows.
    File,
    /// Another device is shown. The window is reset to the whole trace.
    Device,
    /// Several devices are shown, and the focus moved to another one of them.
    Lane,
    Categories,
    InternalFrames,
}

impl Change {
    /// Returns whether another device is shown or focused, which invalidates all data about the previous one.
    pub(crate) fn is_device_change(self) -> bool {
        matches!(self, Change::Device | Change::Lane)
    }
}

/// Phase of an update. The phases run in order, and each feature sends its requests to the worker in the phases that it
/// registers for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskPhase {
    /// Runs first. For data that responses to later requests depend on: the category rules and the arrangement of
    /// stacks.
    Setup,
    /// Before the scene is requested. For data that affects how the scene is drawn.
    BeforeScene,
    WithScene,
    /// After the scene of the window has arrived. For data that is less urgent than the timeline.
    AfterScene,
    Last,
}
