//! Changes that invalidate the state of features, and the order of their questions to the worker.

/// A change that may invalidate what a feature knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Another file was opened, or the file was closed. A change of the device follows.
    File,
    /// Another device is shown, from its beginning.
    Device,
    /// The focus moved to another of the devices that are shown together.
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
    /// Before anything that depends on categories or on the arrangement of stacks.
    Setup,
    /// Before the scene, for anything that its appearance depends on.
    BeforeScene,
    WithScene,
    /// Once the scene of the window is there, so that the timeline appears first.
    AfterScene,
    Last,
}
