//! Limits on the contents of a snapshot.

/// Maximum number of traces in a file. Each trace has tables of a few kilobytes, even if it belongs to no device.
pub(super) const MAX_TRACES: usize = 1 << 16;

/// Maximum number of values in an open dict, or in an open list other than a list of events. They take 256 MiB, and
/// twice that while the container grows. Known files have far fewer than a million segments.
pub(super) const MAX_ITEMS: usize = 1 << 25;
