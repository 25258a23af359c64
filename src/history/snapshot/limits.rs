//! How much of a file may be of one kind.

/// Lists of events that a file may have. Each costs tables of its own (a few kilobytes), and is of one device or of nobody.
pub(super) const MOST_TRACES: usize = 1 << 16;

/// Values of one list (not of events) or dict, while it is open: 256 MiB, and as much again while that grows. A list of a million
/// segments is unheard of.
pub(super) const MOST_ITEMS: usize = 1 << 25;
