//! State and actions of the Segments tab.

use crate::plot::scroll::Scroll;
use crate::state::drawing::Canvas;
use crate::state::latest::Latest;
use protocol::{
    Details, MemoryFilter, PieceKind, SegmentSort, SegmentsBar, SegmentsPage, SegmentsPiece, SegmentsQuestion,
};
use std::rc::Rc;

pub(crate) const ZOOM_SCALE: f64 = 1000.0;

pub(crate) fn allocation(piece: &SegmentsPiece) -> Option<u32> {
    (piece.kind != PieceKind::Free).then_some(piece.allocation)
}

/// Minimum and maximum bytes per device pixel. At the minimum, a block of 512 bytes has room for its label. At the
/// maximum, a pixel covers a terabyte.
pub(crate) const BYTES_PER_PX: [f64; 2] = [4.0, 1e12];

/// Padding between the edges of the canvas and the bars, in CSS pixels.
pub(crate) const PAD_PX: f64 = 12.0;

/// Height of a row in CSS pixels.
pub const ROW_PX: f64 = 24.0;

/// State of the Segments tab.
#[derive(Clone, Debug)]
pub struct SegmentsTab {
    /// Size of the canvas. `None` until the canvas is laid out.
    pub canvas: Option<Canvas>,
    pub scroll: Scroll,
    pub filter: MemoryFilter,
    /// Order of the segments within a group.
    pub sort: SegmentSort,
    /// Bytes per CSS pixel. `None` shows all segments in the width of the canvas.
    pub(crate) zoom: Option<f64>,
    /// Position of the pointer in device pixels, from the upper left corner of the canvas.
    pub pointer: Option<[f64; 2]>,
    /// The active block or segment: the last one reached by keys or clicked.
    pub(crate) active: Option<NavTarget>,
    /// Text of the field for a simulated request.
    pub request_text: String,
    pub request_error: Option<String>,
    pub(crate) request: Option<u64>,
    /// Address for which the worker must find the row.
    pub(crate) reveal: Option<u64>,
    /// True if the list must scroll to the row of `reveal`.
    pub(crate) scrolls_to_reveal: bool,
    /// The allocation that was last scrolled into view.
    pub(crate) revealed_allocation: Option<u32>,
    /// A navigation step to run once the rows that it needs are loaded.
    pub(crate) pending_step: Option<BlockMove>,
    pub(crate) answer: Latest<(SegmentsQuestion, u32), Rc<SegmentsPage>>,
    /// Details of two allocations: under the pointer, and at the active position.
    pub(crate) details: [Latest<u32, Option<Box<Details>>>; 2],
    /// Pools found so far: the options of the pool filter.
    pub pools: Vec<(u64, u64)>,
    /// Streams found so far: the options of the stream filter.
    pub streams: Vec<u64>,
}

impl Default for SegmentsTab {
    fn default() -> SegmentsTab {
        SegmentsTab {
            canvas: None,
            scroll: Scroll::new(ROW_PX),
            filter: MemoryFilter::default(),
            sort: SegmentSort::default(),
            zoom: None,
            pointer: None,
            active: None,
            request_text: String::new(),
            request_error: None,
            request: None,
            reveal: None,
            scrolls_to_reveal: false,
            revealed_allocation: None,
            pending_step: None,
            answer: Latest::default(),
            details: Default::default(),
            pools: Vec::new(),
            streams: Vec::new(),
        }
    }
}

impl SegmentsTab {
    /// Returns the rows that are shown.
    pub fn page(&self) -> Option<&Rc<SegmentsPage>> {
        self.answer.latest()
    }

    /// Returns the indices of the selected sort order, pool and stream. For pool and stream, 0 means all.
    pub fn picker_indices(&self) -> [usize; 3] {
        let after = |index: Option<usize>| index.map_or(0, |index| index + 1);
        [
            self.sort as usize,
            after(self.filter.pool.and_then(|pool| self.pools.iter().position(|it| *it == pool))),
            after(self.filter.stream.and_then(|stream| self.streams.iter().position(|it| *it == stream))),
        ]
    }

    /// Returns true if the zoom shows all segments in the width of the canvas.
    pub fn fits(&self) -> bool {
        self.zoom.is_none()
    }

    /// Returns the zoom for links, in bytes per thousand CSS pixels. `None` if all segments are shown.
    pub(crate) fn link_zoom(&self) -> Option<u64> {
        self.zoom.map(|zoom| (zoom * ZOOM_SCALE).round() as u64)
    }

    /// Sets the zoom from a link, in bytes per thousand CSS pixels. `None` shows all segments.
    pub(crate) fn set_link_zoom(&mut self, bytes: Option<u64>) {
        let [min, max] = BYTES_PER_PX;
        self.zoom = bytes.map(|bytes| (bytes as f64 / ZOOM_SCALE).clamp(min, max));
    }

    pub(crate) fn scale(&self) -> f64 {
        self.canvas.map_or(1.0, |canvas| canvas.scale)
    }

    /// Returns the padding at the left edge of the canvas in device pixels.
    pub(crate) fn pad_px(&self) -> i32 {
        (PAD_PX * self.scale()).round() as i32
    }

    /// Returns the bar (the part of a segment in one row) and the piece (a block or free range) at a position, in
    /// device pixels from the upper left corner of the canvas.
    pub fn hit_test(&self, [x, y]: [f64; 2]) -> Option<BlockInBar<'_>> {
        let page = self.page()?;
        let row = self.scroll.rows_above() + y / (ROW_PX * self.scale());
        let x = u32::try_from(x.floor() as i64 - i64::from(self.pad_px())).ok()?;
        let holds = |[from, to]: [u32; 2]| (from..to).contains(&x);
        let from = page.bars.partition_point(|bar| bar.row < row.max(0.0) as u32);
        let mut bars = page.bars.iter().skip(from).take_while(|bar| bar.row == row.max(0.0) as u32);
        let bar = bars.find(|bar| holds(bar.x))?;
        Some((bar, pieces(page, bar).iter().find(|piece| holds(piece.x))))
    }

    /// Returns the active block or segment, if its row is loaded.
    pub fn active(&self) -> Option<BlockInBar<'_>> {
        let (page, active) = (self.page()?, self.active?);
        nav_targets(page).find(|target| nav_target(*target) == active)
    }

    /// Returns the allocations whose details are shown: under the pointer, and at the active position.
    pub(crate) fn shown_allocations(&self) -> [Option<u32>; 2] {
        let hovered = self.pointer.and_then(|pointer| self.hit_test(pointer));
        // For a free block, the allocation that keeps its segment from being released.
        [hovered, self.active()].map(|target| target.and_then(|(bar, piece)| allocation(piece?).or(bar.largest_block)))
    }

    /// Returns the details of the allocation in a piece, if they are known.
    pub(crate) fn piece_details(&self, piece: &SegmentsPiece) -> Option<&Details> {
        self.allocation_details(piece.allocation)
    }

    /// Returns the details of an allocation, if they are known.
    pub(crate) fn allocation_details(&self, allocation: u32) -> Option<&Details> {
        self.details.iter().find_map(|details| details.answer_to(&allocation))?.as_deref()
    }

    /// Keeps the active position in view when the next rows arrive. Without an active position, keeps the first visible
    /// bar in view.
    pub(crate) fn keep_in_view(&mut self) {
        let first_row = self.scroll.rows_above().ceil() as u32;
        let first =
            self.page().and_then(|page| page.bars.iter().find(|bar| bar.row >= first_row)).map(|bar| bar.address);
        self.reveal = self.active.map(|active| active.address).or(first);
        self.scrolls_to_reveal = true;
    }
}

/// User input and browser events of the Segments tab.
#[derive(Clone, Debug, PartialEq)]
pub enum SegmentsAction {
    Resized(Canvas),
    /// Scroll offset and visible height in CSS pixels.
    Scrolled(f64, f64),
    /// Position of the pointer. `None` when it left the canvas.
    PointerAt(Option<[f64; 2]>),
    Clicked([f64; 2]),
    /// Sorts segments by the order at this index of the picker.
    SortChosen(usize),
    /// Shows the pool at this index of the picker, or all pools (0).
    PoolChosen(usize),
    /// Shows the stream at this index of the picker, or all streams (0).
    StreamChosen(usize),
    /// Text of the field for a simulated request.
    RequestTyped(String),
    /// A note above the segments was clicked. Selects this allocation.
    KeptLineClicked(u32),
}

/// Movement between blocks by keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockMove {
    PreviousBlock,
    NextBlock,
    PreviousSegment,
    NextSegment,
    First,
    Last,
}

/// A bar (the part of a segment in one row) and one of its pieces. The piece is `None` if all pieces are too narrow to
/// draw.
pub type BlockInBar<'a> = (&'a SegmentsBar, Option<&'a SegmentsPiece>);

/// Returns the pieces of a bar: blocks, rounding and free ranges.
pub(crate) fn pieces<'a>(page: &'a SegmentsPage, bar: &SegmentsBar) -> &'a [SegmentsPiece] {
    page.pieces.get(bar.pieces[0] as usize..bar.pieces[1] as usize).unwrap_or_default()
}

/// A target of keyboard navigation: a block, a free block, or a segment whose pieces are all narrower than a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NavTarget {
    pub(crate) segment: u64,
    pub(crate) address: u64,
    pub(crate) is_free: bool,
}

pub(crate) fn nav_target((bar, piece): BlockInBar<'_>) -> NavTarget {
    let address = piece.map_or(bar.segment, |piece| piece.address);
    NavTarget { segment: bar.segment, address, is_free: piece.is_some_and(|piece| piece.kind == PieceKind::Free) }
}

/// Returns all targets of keyboard navigation in reading order. A block that continues in the next row appears once per
/// row.
pub(crate) fn nav_targets(page: &SegmentsPage) -> impl Iterator<Item = BlockInBar<'_>> {
    page.bars.iter().flat_map(move |bar| {
        let all = pieces(page, bar);
        let blocks = all.iter().filter(|piece| piece.kind != PieceKind::Rounding).map(move |piece| (bar, Some(piece)));
        blocks.chain(all.is_empty().then_some((bar, None)))
    })
}
