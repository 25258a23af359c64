//! Questions and answers of the Segments view: segments as bars, wrapped into rows like text, and the blocks in them.
//!
//! ```text
//! row 0   small, stream 0, default pool          heading of a group
//! row 1   [====|==..|=]  [=====|===]             segments with gaps between them
//! row 2   large, stream 0, default pool
//! row 3   [==========|=====..........            a segment longer than a row continues in the next one
//! row 4   .....|=====]   [==========]
//! ```

use super::{MemoryFilter, Weight};
use serde::{Deserialize, Serialize};

/// Query for a part of the Segments view.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SegmentsQuestion {
    /// Number of events that have happened.
    pub moment: u32,
    pub filter: MemoryFilter,
    /// Order of the segments within a group.
    pub sort: SegmentSort,
    pub colouring: super::Grouping,
    /// Width of a row in device pixels. 0 requests a list: each segment takes one row, every block is a separate
    /// piece regardless of its size, and no item has a width.
    pub width_px: u32,
    /// Bytes per device pixel. 0 fits all segments into `fit_rows` rows.
    pub bytes_per_px: f64,
    /// Number of rows to fit if `bytes_per_px` is 0.
    pub fit_rows: u32,
    /// Requested rows: first and count.
    pub rows: [u32; 2],
    /// Address whose position is requested.
    pub reveal: Option<u64>,
    /// Size in bytes of a request whose placement is predicted.
    pub request: Option<u64>,
}

/// Order of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum SegmentSort {
    /// Lowest address first.
    #[default]
    Address,
    Size,
    /// Highest share of free bytes first.
    Free,
}

/// Allocator state, and the requested rows of the view.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SegmentsPage {
    /// Number of events that have happened.
    pub moment: u32,
    pub total: SegmentsSums,
    /// Bytes per device pixel.
    pub bytes_per_px: f64,
    pub rows: u32,
    /// Index of the first returned row.
    pub first: u32,
    /// All groups, from top to bottom.
    pub groups: Vec<SegmentsGroup>,
    /// Bars of the segments in the requested rows, in reading order.
    pub bars: Vec<SegmentsBar>,
    pub pieces: Vec<SegmentsPiece>,
    /// Row and pixel of the requested address, if it is mapped.
    pub revealed: Option<[u32; 2]>,
    /// Predicted placement of the request for each pool and stream that may serve it.
    pub fits: Vec<SegmentsFit>,
    /// Live requested bytes outside all mapped memory, because the file is incomplete.
    pub outside_mapped: Weight,
    pub releasable: SegmentsKept,
}

/// Segments that the driver could get back, and segments that are pinned by a single live block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SegmentsKept {
    /// Segments without live blocks, which `torch.cuda.empty_cache()` releases: number and bytes.
    pub empty: Weight,
    /// Segments without live blocks in private pools: number and bytes. They stay reserved while the owner of the pool
    /// exists.
    pub empty_private: Weight,
    /// Segments with a single live block: number, and free bytes that cannot be released.
    pub single_block: Weight,
    /// Pinned segments by the call site of the block, most free bytes first.
    pub by_site: Vec<HeldBySite>,
    /// Number of call sites that are left out.
    pub left_out: u32,
}

/// Segments that are pinned by single blocks of a call site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldBySite {
    pub call_site: String,
    /// Number of segments, and their free bytes.
    pub free: Weight,
    /// Reserved bytes of these segments.
    pub reserved: u64,
    /// Allocation id of the block in the segment with the most free bytes.
    pub allocation: u32,
}

/// Totals of a set of segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentsSums {
    /// Number of segments.
    pub segments: u32,
    pub reserved: u64,
    pub blocks: u32,
    /// Requested bytes of the blocks.
    pub requested: u64,
    /// Bytes of `requested` that are awaiting free.
    pub awaiting_free: u64,
    /// Rounded bytes of the blocks. A lower bound.
    pub rounded: u64,
    /// Reserved bytes outside live blocks. An upper bound.
    pub free: u64,
    /// Number of free blocks.
    pub free_blocks: u32,
    /// Size of the largest free block. An upper bound.
    pub largest_free: u64,
}

impl SegmentsSums {
    /// Adds other totals, saturating.
    pub(crate) fn add(&mut self, more: &SegmentsSums) {
        self.segments = self.segments.saturating_add(more.segments);
        self.reserved = self.reserved.saturating_add(more.reserved);
        self.blocks = self.blocks.saturating_add(more.blocks);
        self.requested = self.requested.saturating_add(more.requested);
        self.awaiting_free = self.awaiting_free.saturating_add(more.awaiting_free);
        self.rounded = self.rounded.saturating_add(more.rounded);
        self.free = self.free.saturating_add(more.free);
        self.free_blocks = self.free_blocks.saturating_add(more.free_blocks);
        self.largest_free = self.largest_free.max(more.largest_free);
    }

    /// Adds a free block, unless it is empty.
    pub(crate) fn add_free(&mut self, bytes: u64) {
        self.free = self.free.saturating_add(bytes);
        self.free_blocks += u32::from(bytes > 0);
        self.largest_free = self.largest_free.max(bytes);
    }

    /// Returns the free share of the reserved bytes, in units of 2^-32.
    pub(crate) fn free_share(&self) -> u64 {
        let share = (u128::from(self.free) << 32) / u128::from(self.reserved.max(1));
        u64::try_from(share).unwrap_or(u64::MAX)
    }
}

/// Group of segments that serve the same requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SegmentsGroup {
    /// Row of the heading. The segments start in the next row.
    pub row: u32,
    /// Pool id, if known.
    pub pool: Option<(u64, u64)>,
    /// Stream, if known.
    pub stream: Option<u64>,
    pub small: bool,
    pub expandable: bool,
    pub sums: SegmentsSums,
}

/// Part of a segment in one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SegmentsBar {
    pub row: u32,
    /// Left and right edge in device pixels.
    pub x: [u32; 2],
    pub address: u64,
    pub segment: u64,
    pub sums: SegmentsSums,
    /// Allocation id of the segment's largest live block.
    pub largest_block: Option<u32>,
    /// Start and end (exclusive) of the bar's pieces in [`SegmentsPage::pieces`].
    pub pieces: [u32; 2],
    /// Flags of the left and the right end: the segment starts in this row, and it ends in this row.
    pub ends: [bool; 2],
}

/// Piece of a bar. Space without a piece is free and narrower than a pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SegmentsPiece {
    /// Left and right edge in device pixels, within the bar.
    pub x: [u32; 2],
    pub kind: PieceKind,
    /// [`Paint`](picture::timeline::Paint) of the largest block in the piece.
    pub paint: u16,
    /// Start address of the largest block in the piece.
    pub address: u64,
    /// Allocation id of the largest block in the piece.
    pub allocation: u32,
    /// Number of blocks in the piece. More than 1 if they are narrower than a pixel.
    pub count: u32,
    /// Requested bytes of the blocks.
    pub requested: u64,
    /// Rounded bytes of the blocks. A lower bound unless `recorded` is set.
    pub rounded: u64,
    /// True if the file records the rounded bytes.
    pub recorded: bool,
}

/// Kind of a [`SegmentsPiece`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PieceKind {
    /// One or more live blocks.
    #[default]
    Live,
    /// One or more blocks that are awaiting free.
    AwaitingFree,
    /// Rounding at the end of the preceding block.
    Rounding,
    /// Free block. Its start is in `address`, and an upper bound of its size is in `rounded`. The other fields are
    /// not used.
    Free,
}

/// Predicted placement of a request in the segments of one pool and stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SegmentsFit {
    pub pool: Option<(u64, u64)>,
    pub stream: Option<u64>,
    /// Size of the request after the allocator's rounding.
    pub rounded: u64,
    /// Address and size of the smallest free block that may fit. `None` if the driver has to provide new memory.
    pub block: Option<(u64, u64)>,
    /// Bytes requested from the driver if no block fits.
    pub new_segment: u64,
    /// True if the new memory extends an expandable segment, whose free end is used first. `new_segment` is then a
    /// lower bound.
    pub extends_segment: bool,
    /// Free bytes in these segments. An upper bound.
    pub free: u64,
    /// Size of the largest free block in these segments. An upper bound.
    pub largest_free: u64,
}
