//! Keys that are tried automatically to match the allocations of two files.

pub use protocol::MatchKey as Key;

/// Keys for comparing sums of live bytes, strictest first.
pub(crate) const SUM_KEYS: [Key; 6] =
    [Key::Stack, Key::PythonFrames, Key::NoLines, Key::NoFolders, Key::CallSite, Key::Category];
/// Keys for pairing individual allocations, strictest first.
pub(crate) const PAIRING_KEYS: [Key; 5] = [Key::Stack, Key::PythonFrames, Key::NoLines, Key::NoFolders, Key::CallSite];
