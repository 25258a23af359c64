//! Changes that invalidate the state of features, and the phases that order the questions of features to the worker.

/// A change that may invalidate data that a feature holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Another file was opened, or the file was closed. A change of the device follows.
    File,
    /// Another device is shown, with the whole trace in view.
    Device,
    /// The focus moved to another one of the devices that are shown together.
    Lane,
    Categories,
    InternalFrames,
}

impl Change {
    /// Returns whether the shown or focused device changed, which invalidates everything known about the previous one.
    pub(super) fn is_device_change(self) -> bool {
        matches!(self, Change::Device | Change::Lane)
    }
}

/// Phase of an update, in order. Each feature sends its questions to the worker in one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskPhase {
    /// Before all questions whose answers depend on the category rules or the arrangement of stacks.
    Setup,
    /// Before the scene is requested, for data that its appearance depends on.
    BeforeScene,
    WithScene,
    /// Once the scene of the window has arrived, so that the timeline appears first.
    AfterScene,
    Last,
}
