//! What is known and seen of the allocator's state, and what can be done there.

use crate::latest::Latest;
use crate::scroll::Scroll;
use crate::shown::Canvas;
use engine::protocol::{Details, Only, PieceKind, SegmentSort, StateBar, StatePage, StatePiece, StateQuestion};
use std::rc::Rc;

pub(crate) const A_THOUSAND: f64 = 1000.0;

pub(crate) fn allocation(piece: &StatePiece) -> Option<u32> {
    (piece.kind != PieceKind::Free).then_some(piece.allocation)
}

/// Bytes to a device pixel: the least shows a block of 512 bytes with room for its size, the most a TiB in a pixel.
pub(crate) const BYTES_PER_PX: [f64; 2] = [4.0, 1e12];

/// CSS pixels between the canvas's edges and the bars.
pub(crate) const PAD_PX: f64 = 12.0;

/// CSS pixels of a row.
pub const ROW_PX: f64 = 24.0;

/// The orders, as the picker has them.
pub(crate) const SORTS: [SegmentSort; 3] = [SegmentSort::Address, SegmentSort::Size, SegmentSort::Free];

/// What is known and seen of the allocator's state.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The canvas; `None` until it was seen.
    pub canvas: Option<Canvas>,
    pub scroll: Scroll,
    pub only: Only,
    /// The order of the segments of a group.
    pub sort: SegmentSort,
    /// Bytes a CSS pixel covers; `None`: as many as make all fit.
    pub(crate) zoom: Option<f64>,
    /// Where the pointer is, in device pixels from the canvas's left upper corner.
    pub pointer: Option<[f64; 2]>,
    /// What keys or a click have led to.
    pub(crate) active: Option<Stop>,
    /// What stands in the field of the request.
    pub text: String,
    pub wrong: Option<String>,
    pub(crate) request: Option<u64>,
    /// The address whose place is wanted…
    pub(crate) reveal: Option<u64>,
    /// …and whether it has to be brought into view.
    pub(crate) brings: bool,
    /// The allocation that was brought into view last.
    pub(crate) followed: Option<u32>,
    /// A step for which the rows have to come first.
    pub(crate) waiting: Option<MemoryStep>,
    pub(crate) answer: Latest<(StateQuestion, u32), Rc<StatePage>>,
    /// About the allocation that is pointed at, and that which keys have led to.
    pub(crate) details: [Latest<u32, Option<Box<Details>>>; 2],
    /// The pools and the streams there have been: what can be shown alone.
    pub pools: Vec<(u64, u64)>,
    /// See `pools`.
    pub streams: Vec<u64>,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory {
            canvas: None,
            scroll: Scroll::new(ROW_PX),
            only: Only::default(),
            sort: SegmentSort::default(),
            zoom: None,
            pointer: None,
            active: None,
            text: String::new(),
            wrong: None,
            request: None,
            reveal: None,
            brings: false,
            followed: None,
            waiting: None,
            answer: Latest::default(),
            details: Default::default(),
            pools: Vec::new(),
            streams: Vec::new(),
        }
    }
}

impl Memory {
    /// What is shown.
    pub fn page(&self) -> Option<&Rc<StatePage>> {
        self.answer.latest()
    }

    /// The place of the order in the picker; those of pool and stream, 0 for all.
    pub fn chosen(&self) -> [usize; 3] {
        let after = |place: Option<usize>| place.map_or(0, |place| place + 1);
        [
            SORTS.iter().position(|sort| *sort == self.sort).unwrap_or(0),
            after(self.only.pool.and_then(|pool| self.pools.iter().position(|it| *it == pool))),
            after(self.only.stream.and_then(|stream| self.streams.iter().position(|it| *it == stream))),
        ]
    }

    /// Whether all of it is made to fit.
    pub fn fits(&self) -> bool {
        self.zoom.is_none()
    }

    /// Bytes that a thousand CSS pixels cover; `None` where all is made to fit.
    pub(crate) fn zoom(&self) -> Option<u64> {
        self.zoom.map(|zoom| (zoom * A_THOUSAND).round() as u64)
    }

    /// See [`Memory::zoom`].
    pub(crate) fn zoom_to(&mut self, bytes: Option<u64>) {
        let [least, most] = BYTES_PER_PX;
        self.zoom = bytes.map(|bytes| (bytes as f64 / A_THOUSAND).clamp(least, most));
    }

    pub(crate) fn scale(&self) -> f64 {
        self.canvas.map_or(1.0, |canvas| canvas.scale)
    }

    /// Device pixels from the canvas's left edge to the bars.
    pub(crate) fn pad_px(&self) -> i32 {
        (PAD_PX * self.scale()).round() as i32
    }

    /// What is at a place of the canvas.
    pub fn at(&self, [x, y]: [f64; 2]) -> Option<BlockInBar<'_>> {
        let page = self.page()?;
        let row = self.scroll.above() + y / (ROW_PX * self.scale());
        let x = u32::try_from(x.floor() as i64 - i64::from(self.pad_px())).ok()?;
        let holds = |[from, to]: [u32; 2]| (from..to).contains(&x);
        let from = page.bars.partition_point(|bar| bar.row < row.max(0.0) as u32);
        let mut bars = page.bars.iter().skip(from).take_while(|bar| bar.row == row.max(0.0) as u32);
        let bar = bars.find(|bar| holds(bar.x))?;
        Some((bar, pieces(page, bar).iter().find(|piece| holds(piece.x))))
    }

    /// What keys or a click have led to, where it is among the rows that are known.
    pub fn active(&self) -> Option<BlockInBar<'_>> {
        let (page, active) = (self.page()?, self.active?);
        stops(page).find(|place| stop(*place) == active)
    }

    /// The allocations that are told of: under the pointer, and where keys have led to.
    pub(crate) fn shown_allocations(&self) -> [Option<u32>; 2] {
        let hovered = self.pointer.and_then(|pointer| self.at(pointer));
        // Of a free block, what keeps its segment.
        [hovered, self.active()].map(|place| place.and_then(|(bar, piece)| allocation(piece?).or(bar.keeper)))
    }

    /// What is known of the allocation of a piece.
    pub(crate) fn details_of(&self, piece: &StatePiece) -> Option<&Details> {
        self.details_by(piece.allocation)
    }

    /// What is known of an allocation.
    pub(crate) fn details_by(&self, allocation: u32) -> Option<&Details> {
        self.details.iter().find_map(|details| details.about(&allocation))?.as_deref()
    }

    /// An address that has to stay in view.
    pub(crate) fn keep(&mut self) {
        let above = self.scroll.above().ceil() as u32;
        let first = self.page().and_then(|page| page.bars.iter().find(|bar| bar.row >= above)).map(|bar| bar.address);
        self.reveal = self.active.map(|active| active.address).or(first);
        self.brings = true;
    }
}

/// What a person does with the pointer, places in device pixels from the canvas's left upper corner, and with the controls; and what the
/// browser reports.
#[derive(Clone, Debug, PartialEq)]
pub enum MemoryAction {
    Resized(Canvas),
    /// So many CSS pixels are above what is seen, and so many are seen.
    Scrolled(f64, f64),
    /// The pointer is here; nowhere when it left.
    PointerAt(Option<[f64; 2]>),
    Clicked([f64; 2]),
    /// Segments in the order of this place in the picker.
    SortChosen(usize),
    /// All pools (0), or one alone, by its place in the picker.
    PoolChosen(usize),
    /// All streams (0), or one alone.
    StreamChosen(usize),
    /// This stands in the field of the request.
    RequestTyped(String),
    /// Of the lines above the segments, that of this allocation.
    KeeperPicked(u32),
}

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryStep {
    /// To the block before.
    Before,
    /// To the block after.
    After,
    /// To the segment before.
    SegmentBefore,
    /// To the segment after.
    SegmentAfter,
    First,
    Last,
    Select,
    /// Fewer bytes a pixel.
    ZoomIn,
    ZoomOut,
    Fit,
    /// Segments in another order.
    NextSort,
    NextPool,
    NextStream,
    TypeRequest,
    Earlier,
    Later,
}

/// What is at a place: a bar, and the piece of it.
pub type BlockInBar<'a> = (&'a StateBar, Option<&'a StatePiece>);

/// The pieces of a bar.
pub(crate) fn pieces<'a>(page: &'a StatePage, bar: &StateBar) -> &'a [StatePiece] {
    page.pieces.get(bar.pieces[0] as usize..bar.pieces[1] as usize).unwrap_or_default()
}

/// A place that keys walk to: a block, a free block, or a segment that has no such thing of a pixel's width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) segment: u64,
    pub(crate) address: u64,
    pub(crate) is_free: bool,
}

pub(crate) fn stop((bar, piece): BlockInBar<'_>) -> Stop {
    let address = piece.map_or(bar.segment, |piece| piece.address);
    Stop { segment: bar.segment, address, is_free: piece.is_some_and(|piece| piece.kind == PieceKind::Free) }
}

/// All places that keys walk to, in reading order. What goes on in the next row is there once a row.
pub(crate) fn stops(page: &StatePage) -> impl Iterator<Item = BlockInBar<'_>> {
    page.bars.iter().flat_map(move |bar| {
        let all = pieces(page, bar);
        let blocks = all.iter().filter(|piece| piece.kind != PieceKind::Rounding).map(move |piece| (bar, Some(piece)));
        blocks.chain(all.is_empty().then_some((bar, None)))
    })
}
