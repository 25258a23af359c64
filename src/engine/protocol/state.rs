//! The allocator's state at a moment: segments as bars, wrapped into rows as text is into lines, and the blocks in them.
//!
//! ```text
//! row 0   small, stream 0, default pool          a group's heading takes a row
//! row 1   [====|==..|=]  [=====|===]             segments one after another, a gap between them
//! row 2   large, stream 0, default pool
//! row 3   [==========|=====..........            one that is longer than a row goes on in the next
//! row 4   .....|=====]   [==========]
//! ```

use super::{Only, Weight};
use serde::{Deserialize, Serialize};

/// What of the state is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateQuestion {
    /// After so many events.
    pub moment: u32,
    pub only: Only,
    /// The segments of a group in this order.
    pub sort: SegmentSort,
    pub colouring: super::Grouping,
    /// Device pixels of a row's width. 0: a list. Each segment is a row then, every block a piece of its own whatever its size, and
    /// nothing has a width.
    pub width_px: u32,
    /// Bytes a device pixel covers; 0: as many as make all fit into `fit_rows` rows.
    pub bytes_per_px: f64,
    /// Rows that are to suffice where `bytes_per_px` is 0.
    pub fit_rows: u32,
    /// The rows that are wanted: the first, and how many.
    pub rows: [u32; 2],
    /// Where is this address? Its segment's place is wanted as well.
    pub reveal: Option<u64>,
    /// A request of so many bytes: where would it go?
    pub request: Option<u64>,
}

/// An order of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum SegmentSort {
    /// The lowest address first.
    #[default]
    Address,
    Size,
    /// The one of which the largest part is free first.
    Free,
}

/// The state, and the wanted rows of its picture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatePage {
    /// After so many events.
    pub moment: u32,
    pub whole: StateSums,
    /// Bytes a device pixel covers.
    pub bytes_per_px: f64,
    pub rows: u32,
    /// The first of the rows that are listed.
    pub first: u32,
    /// The groups, from top to bottom: all of them.
    pub groups: Vec<StateGroup>,
    /// The parts of segments in the wanted rows, in reading order.
    pub bars: Vec<StateBar>,
    pub pieces: Vec<StatePiece>,
    /// The row and the pixel of the address that was asked for, where it is mapped.
    pub revealed: Option<[u32; 2]>,
    /// Where the request would be placed: for each kind of segments that may serve it.
    pub fits: Vec<StateFit>,
    /// Live bytes, requested, that lie in nothing that is mapped: the file does not tell all.
    pub astray: Weight,
    pub kept: StateKept,
}

/// Segments that the driver could have back, and those that it could have but for one live block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StateKept {
    /// Segments without a live block, which `torch.cuda.empty_cache()` releases: how many, and their bytes.
    pub empty: Weight,
    /// Those of private pools: they stay as long as what made the pool.
    pub empty_private: Weight,
    /// Segments with a single live block: how many, and their free bytes, which can't be released.
    pub pinned: Weight,
    /// The same by the call site of that block, the one that pins most free bytes first.
    pub by_site: Vec<PinnedBy>,
    /// Call sites that are not among them.
    pub left_out: u32,
}

/// The segments that single blocks of a call site pin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PinnedBy {
    /// The call site in short.
    pub site: String,
    /// How many segments, and their free bytes.
    pub free: Weight,
    /// The same with all of their bytes.
    pub reserved: u64,
    /// The block in the segment with the most free bytes.
    pub allocation: u32,
}

/// What segments hold together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateSums {
    /// How many segments.
    pub segments: u32,
    /// Bytes held from the driver.
    pub reserved: u64,
    pub blocks: u32,
    /// Their requested bytes.
    pub requested: u64,
    /// Of these, the bytes whose free was requested and has not completed.
    pub pending: u64,
    /// Their rounded bytes: at least so many.
    pub rounded: u64,
    /// Reserved bytes that no live block has: at most so many.
    pub free: u64,
    /// How many free blocks that is.
    pub free_blocks: u32,
    /// The largest of them: at most so many bytes.
    pub largest_free: u64,
}

impl StateSums {
    /// Puts `more` beside; what exceeds its bits stays at the limit.
    pub(crate) fn add(&mut self, more: &StateSums) {
        self.segments = self.segments.saturating_add(more.segments);
        self.reserved = self.reserved.saturating_add(more.reserved);
        self.blocks = self.blocks.saturating_add(more.blocks);
        self.requested = self.requested.saturating_add(more.requested);
        self.pending = self.pending.saturating_add(more.pending);
        self.rounded = self.rounded.saturating_add(more.rounded);
        self.free = self.free.saturating_add(more.free);
        self.free_blocks = self.free_blocks.saturating_add(more.free_blocks);
        self.largest_free = self.largest_free.max(more.largest_free);
    }

    /// A free block more, if it has any bytes.
    pub(crate) fn add_free(&mut self, bytes: u64) {
        self.free = self.free.saturating_add(bytes);
        self.free_blocks += u32::from(bytes > 0);
        self.largest_free = self.largest_free.max(bytes);
    }

    /// Which part is free, of 2^32.
    pub(crate) fn free_share(&self) -> u64 {
        let share = (u128::from(self.free) << 32) / u128::from(self.reserved.max(1));
        u64::try_from(share).unwrap_or(u64::MAX)
    }
}

/// Segments that serve the same requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StateGroup {
    /// The row of its heading; its segments begin in the next.
    pub row: u32,
    /// Its pool, where known.
    pub pool: Option<(u64, u64)>,
    /// Its stream, where known.
    pub stream: Option<u64>,
    pub small: bool,
    pub expandable: bool,
    pub sums: StateSums,
}

/// The part of a segment that is in one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StateBar {
    pub row: u32,
    /// Left and right edge in device pixels.
    pub x: [u32; 2],
    pub address: u64,
    pub segment: u64,
    pub sums: StateSums,
    /// The allocation of the segment's largest live block.
    pub keeper: Option<u32>,
    /// Its pieces in [`StatePage::pieces`]: the first, and the first beyond.
    pub pieces: [u32; 2],
    /// Whether the segment begins and whether it ends in this row.
    pub ends: [bool; 2],
}

/// A piece of a bar. What is no piece is free, and thinner than a pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatePiece {
    /// Left and right edge in device pixels, within those of the bar.
    pub x: [u32; 2],
    pub kind: PieceKind,
    /// [`Paint`](picture::timeline::Paint) of the block, or of the largest.
    pub paint: u16,
    /// The first address of the block, or of the largest.
    pub address: u64,
    /// The allocation, or the largest of several.
    pub allocation: u32,
    /// How many blocks share the piece: more than 1 where they are thinner than a pixel.
    pub count: u32,
    /// Their requested bytes.
    pub requested: u64,
    /// Their rounded bytes: at least so many, unless `recorded`.
    pub rounded: u64,
    /// Whether the file records the rounded bytes.
    pub recorded: bool,
}

/// What a piece is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PieceKind {
    /// A live block, or several.
    #[default]
    Live,
    /// One whose free was requested and has not completed, or several of those alone.
    Pending,
    /// The end of a block that was not requested: rounding. It belongs to the piece before.
    Rounding,
    /// A free block: its first address, and in `rounded` its bytes, at most so many. No allocation is in it.
    Free,
}

/// Where a request would go.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StateFit {
    pub pool: Option<(u64, u64)>,
    pub stream: Option<u64>,
    /// The request rounded as the allocator does.
    pub rounded: u64,
    /// The smallest free block it may fit into: address and bytes. `None`: the driver has to be asked.
    pub block: Option<(u64, u64)>,
    /// Bytes the driver would be asked for, where no block fits.
    pub new_segment: u64,
    /// Whether that is mapped behind a segment that can grow, of which what is free at its end is used first: then at least so many bytes.
    pub grows: bool,
    /// Free bytes of the kind: at most so many.
    pub free: u64,
    /// The largest free block of the kind: at most so many bytes.
    pub largest_free: u64,
}
