//! State of memory at the end of the recording: segments and their blocks.

use super::stacks::StackId;

/// State of a block at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    Allocated,
    /// Freed by the program but still used by a stream (`active_pending_free`, in some versions
    /// `active_awaiting_free`).
    AwaitingFree,
    Inactive,
}

impl BlockState {
    /// Returns whether the block counts as live: allocated or awaiting free.
    pub fn is_live(self) -> bool {
        self != BlockState::Inactive
    }
}

/// Block of a segment: a range of memory that is in use or free.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Address. In files from before PyTorch 2.1, it is computed from the segment's address and the sizes of the
    /// preceding blocks.
    pub address: u64,
    /// Size after rounding, in bytes.
    pub size: u64,
    /// Requested bytes, from the first field that is recorded: `requested_size`, `real_size` of the newest history
    /// entry, or `size`.
    pub requested: u64,
    pub state: BlockState,
    /// Stack of the allocation, or [`StackId::NONE`].
    pub stack: StackId,
}

/// Segment: memory that the allocator reserved from the driver and divided into blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Ordinal of the device. −1 is host memory.
    pub device: i64,
    /// Address, if recorded.
    pub address: Option<u64>,
    /// Reserved bytes.
    pub total_size: u64,
    pub stream: Option<u64>,
    /// True if the segment belongs to the pool of small blocks.
    pub small: bool,
    /// Memory pool. `(0, 0)` is the default pool.
    pub pool: Option<(u64, u64)>,
    pub expandable: bool,
    /// Stack that reserved the segment, or [`StackId::NONE`].
    pub stack: StackId,
    /// Rows of the segment's blocks in the snapshot's block table, in order of address.
    pub blocks: std::ops::Range<u32>,
}

impl Segment {
    /// Creates a segment of a device, without address, bytes or blocks.
    pub(super) fn new(device: i64) -> Segment {
        Segment {
            device,
            address: None,
            total_size: 0,
            stream: None,
            small: false,
            pool: None,
            expandable: false,
            stack: StackId::NONE,
            blocks: 0..0,
        }
    }
}

/// One `START` or `END` entry of `external_annotations`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnnotationMark {
    /// Ordinal of the device.
    pub device: i64,
    pub start: bool,
    pub name: super::strings::StringId,
    /// Time in µs since 1970.
    pub time_us: i64,
}

/// Named time range on one device (`record_function`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnnotationRange {
    pub name: super::strings::StringId,
    /// Start in µs since 1970.
    pub start_us: i64,
    /// End in µs since 1970, or `None` if the file has no end.
    pub end_us: Option<i64>,
}

impl AnnotationRange {
    /// Returns whether the range includes this time. Start and end are part of the range.
    pub fn covers(&self, time_us: i64) -> bool {
        self.start_us <= time_us && self.end_us.is_none_or(|end| time_us <= end)
    }
}
