//! Memory as it stood at the end: segments and the blocks inside them.

use super::stacks::StackId;

/// What a block is at the end (FORMAT §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    Allocated,
    /// The program let go of it, a stream still uses it (`active_pending_free`, in some versions `active_awaiting_free`).
    Pending,
    Inactive,
}

impl BlockState {
    /// Whether its bytes count as live.
    pub fn is_live(self) -> bool {
        self != BlockState::Inactive
    }
}

/// A block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Its address. Before 2.1 the file has none: the segment's plus the sizes before it.
    pub address: u64,
    /// Rounded bytes.
    pub size: u64,
    /// Requested bytes: `requested_size`, else the newest history entry's `real_size`, else `size`.
    pub requested: u64,
    pub state: BlockState,
    /// Where it was allocated, or [`StackId::NONE`].
    pub stack: StackId,
}

/// A segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// The device's ordinal; −1 is host memory.
    pub device: i64,
    /// Its address, where recorded.
    pub address: Option<u64>,
    /// Reserved bytes.
    pub total_size: u64,
    pub stream: Option<u64>,
    /// Whether it is of the pool of small blocks.
    pub small: bool,
    /// Its pool: `(0, 0)` is the default one.
    pub pool: Option<(u64, u64)>,
    pub expandable: bool,
    /// Where it was taken from the driver, or [`StackId::NONE`].
    pub stack: StackId,
    /// Its blocks in the snapshot's block table, by address.
    pub blocks: std::ops::Range<u32>,
}

/// One `START` or `END` of `external_annotations`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnnotationMark {
    /// The device's ordinal.
    pub device: i64,
    pub start: bool,
    pub name: super::strings::StringId,
    /// µs since 1970.
    pub time_us: i64,
}

/// A named range of time on one device (`record_function`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnnotationRange {
    pub name: super::strings::StringId,
    /// µs since 1970.
    pub start_us: i64,
    /// `None`: it never ended in the file.
    pub end_us: Option<i64>,
}

impl AnnotationRange {
    /// Whether it holds at this time.
    pub fn covers(&self, time_us: i64) -> bool {
        self.start_us <= time_us && self.end_us.is_none_or(|end| time_us <= end)
    }
}
