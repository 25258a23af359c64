//! Segments and live blocks at a moment.

use protocol::SegmentsSums;

/// A segment. It consists of adjacent mapped ranges that were reserved together or belong to the same expandable
/// segment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Segment {
    pub(crate) address: u64,
    pub(crate) end: u64,
    /// Index into `SegmentLifetimes::kinds`.
    pub(crate) kind: u32,
    /// Start and end (exclusive) of the segment's ranges in `DeviceState::ranges`.
    pub(super) ranges: [u32; 2],
    /// Start and end (exclusive) of the segment's blocks in `DeviceState::blocks`.
    pub(super) blocks: [u32; 2],
    pub(crate) sums: SegmentsSums,
    /// Id and requested bytes of the segment's largest live block. If several are equally large, the one with the
    /// lowest address.
    pub(crate) largest_block: Option<(u32, u64)>,
}

/// A live block. In an inconsistent file, its end is moved down so that blocks do not overlap.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Block {
    pub(crate) from: u64,
    /// End address (exclusive).
    pub(crate) to: u64,
    pub(crate) id: u32,
}
