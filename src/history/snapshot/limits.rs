//! Limits on the contents of a snapshot.

/// Maximum number of traces in a file. Each has tables of a few kilobytes, even if it belongs to no device.
pub(super) const MAX_TRACES: usize = 1 << 16;

/// Maximum number of values in an open list (other than of events) or dict: 256 MiB, and twice that while it grows.
/// Known files have far fewer than a million segments.
pub(super) const MAX_ITEMS: usize = 1 << 25;
