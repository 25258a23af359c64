//! Queries and results of the Segments view: segments as bars, wrapped into rows like text, and the blocks in them.
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

/// Query for some rows of the Segments view.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SegmentsQuestion {
    /// Number of events before the moment that is shown.
    pub moment: u32,
    pub filter: MemoryFilter,
    /// Order of the segments within a group.
    pub sort: SegmentSort,
    pub colouring: super::Grouping,
    /// Width of a row in device pixels. 0 requests a list: each segment takes one row, and every block is a separate
    /// piece, regardless of its size. Items of the list have no width.
    pub width_px: u32,
    /// Number of bytes per device pixel. 0 chooses a scale at which all segments fit into `fit_rows` rows.
    pub bytes_per_px: f64,
    /// Number of rows into which all segments should fit. Only used if `bytes_per_px` is 0.
    pub fit_rows: u32,
    /// Requested rows: index of the first row, and number of rows.
    pub rows: [u32; 2],
    /// Address whose position in the view is requested.
    pub reveal: Option<u64>,
    /// Size in bytes of a hypothetical request whose placement is predicted.
    pub request: Option<u64>,
}

base::listed! {
    /// Sort order of segments.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
    pub enum SegmentSort {
        /// Lowest address first.
        #[default]
        Address = "address",
        Size = "size",
        /// Highest share of free bytes first.
        Free = "free",
    }
}

/// State of the allocator at the cursor, and the requested rows of the Segments view.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SegmentsPage {
    /// Number of events before the moment that is shown.
    pub moment: u32,
    pub total: SegmentsSums,
    /// Number of bytes per device pixel.
    pub bytes_per_px: f64,
    pub rows: u32,
    /// Index of the first returned row.
    pub first: u32,
    /// All groups, from top to bottom.
    pub groups: Vec<SegmentsGroup>,
    /// Bars of the segments in the requested rows, in reading order.
    pub bars: Vec<SegmentsBar>,
    pub pieces: Vec<SegmentsPiece>,
    /// Row index and horizontal pixel of the requested address. `None` if the address is not mapped.
    pub revealed: Option<[u32; 2]>,
    /// Predicted placement of the hypothetical request, for each pool and stream that may serve it.
    pub fits: Vec<SegmentsFit>,
    /// Live requested bytes outside all mapped memory. They exist only if the file is incomplete.
    pub outside_mapped: Weight,
    pub releasable: SegmentsKept,
}

/// Segments that can be returned to the driver, and segments that a single live block keeps reserved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SegmentsKept {
    /// Number and bytes of segments without live blocks, which `torch.cuda.empty_cache()` releases.
    pub empty: Weight,
    /// Number and bytes of segments without live blocks in private pools. They stay reserved as long as the owner of
    /// the pool exists.
    pub empty_private: Weight,
    /// Number of segments with a single live block, and their free bytes, which cannot be released.
    pub single_block: Weight,
    /// The segments with a single live block, by the call site of this block. The call site with the most free bytes is
    /// the first.
    pub by_site: Vec<HeldBySite>,
    /// Number of call sites that are left out.
    pub left_out: u32,
}

/// Segments whose only live block was allocated by the same call site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldBySite {
    pub call_site: String,
    /// Number of segments, and their free bytes.
    pub free: Weight,
    /// Reserved bytes of these segments.
    pub reserved: u64,
    /// Id of the allocation that prevents the release of the segment with the most free bytes.
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
    /// Rounded bytes of the blocks. This is a lower bound.
    pub rounded: u64,
    /// Reserved bytes outside live blocks. This is an upper bound.
    pub free: u64,
    /// Number of free blocks.
    pub free_blocks: u32,
    /// Size of the largest free block in bytes. This is an upper bound.
    pub largest_free: u64,
}

impl SegmentsSums {
    /// Adds the totals of other segments. Sums that are too large saturate.
    pub fn add(&mut self, more: &SegmentsSums) {
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

    /// Counts a free block of this size. Does nothing if the size is 0.
    pub fn add_free(&mut self, bytes: u64) {
        self.free = self.free.saturating_add(bytes);
        self.free_blocks += u32::from(bytes > 0);
        self.largest_free = self.largest_free.max(bytes);
    }

    /// Returns free bytes / reserved bytes, in units of 2^-32.
    pub fn free_share(&self) -> u64 {
        let share = (u128::from(self.free) << 32) / u128::from(self.reserved.max(1));
        u64::try_from(share).unwrap_or(u64::MAX)
    }
}

/// A group of segments that can serve the same requests: same pool, stream and size class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SegmentsGroup {
    /// Index of the row with the group's heading. The segments start in the next row.
    pub row: u32,
    /// Pool id, if known.
    pub pool: Option<(u64, u64)>,
    /// Stream, if known.
    pub stream: Option<u64>,
    pub small: bool,
    pub expandable: bool,
    pub sums: SegmentsSums,
}

/// The part of a segment that lies in one row of the view.
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
    /// Range of this bar's pieces in [`SegmentsPage::pieces`]: start and end (exclusive).
    pub pieces: [u32; 2],
    /// Two flags: true if the segment starts in this row, and true if it ends in this row.
    pub ends: [bool; 2],
}

/// A piece of a bar that contains one or more blocks. Space between pieces is free.
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
    /// Number of blocks in the piece. Several blocks share a piece if they are narrower than a pixel.
    pub count: u32,
    /// Requested bytes of the blocks.
    pub requested: u64,
    /// Rounded bytes of the blocks. If `recorded` is false, this is a lower bound.
    pub rounded: u64,
    /// True if the file records the rounded size of the blocks.
    pub recorded: bool,
}

/// Content of a [`SegmentsPiece`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PieceKind {
    /// One or more live blocks.
    #[default]
    Live,
    /// One or more blocks that are awaiting free.
    AwaitingFree,
    /// Unused bytes at the end of the preceding block, which result from rounding.
    Rounding,
    /// A free block. `address` is its start, and `rounded` is an upper bound of its size. The other fields are not
    /// used.
    Free,
}

/// Predicted placement of a hypothetical request in the segments of one pool and stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SegmentsFit {
    pub pool: Option<(u64, u64)>,
    pub stream: Option<u64>,
    /// Size of the request after the allocator's rounding.
    pub rounded: u64,
    /// Address and size of the smallest free block that may fit. `None` if no block fits, so that the driver has to
    /// provide new memory.
    pub block: Option<(u64, u64)>,
    /// Bytes that the allocator requests from the driver if no block fits.
    pub new_segment: u64,
    /// True if the new memory extends an expandable segment. The free end of the segment is used first, so
    /// `new_segment` is a lower bound.
    pub extends_segment: bool,
    /// Free bytes in these segments. This is an upper bound.
    pub free: u64,
    /// Size of the largest free block in these segments. This is an upper bound.
    pub largest_free: u64,
}
