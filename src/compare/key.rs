//! What two files have in common: which keys are tried automatically.

pub use engine::protocol::MatchKey as Key;

/// The keys that are tried to sum up what is live.
pub(crate) const AUTOMATIC: [Key; 6] =
    [Key::Stack, Key::PythonFrames, Key::NoLines, Key::NoFolders, Key::CallSite, Key::Category];
/// The keys that are tried to pair allocations.
pub(crate) const LADDER: [Key; 5] = [Key::Stack, Key::PythonFrames, Key::NoLines, Key::NoFolders, Key::CallSite];
