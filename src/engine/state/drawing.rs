//! Computes the visible rows of the Segments view: the bars of the segments and their pieces.

use super::arrangement::{SegmentLayout, SegmentOrder};
use super::bar::{BarBuilder, Part};
use super::device_state::DeviceState;
use super::segment::{Block, Segment};
use crate::device::SizeSource;
use crate::side::Side;
use base::slice::{SliceResult, TimeSlice};
use history::replay::AllocationId;
use protocol::{Grouping, PieceKind, SegmentsBar, SegmentsPiece};

/// Maximum number of rows in a result.
const MAX_ROWS: u32 = 4096;

/// Time-sliced computation of the bars of the requested rows.
#[derive(Default)]
pub(super) struct Drawing {
    pub(super) bars: Vec<SegmentsBar>,
    pub(super) pieces: Vec<SegmentsPiece>,
    /// Requested rows: start and end (exclusive).
    rows: [u32; 2],
    /// Index of the next segment in display order. `part` is the next row of this segment, and `block` is the next
    /// block if part of the row is already drawn.
    rank: usize,
    part: u64,
    block: Option<usize>,
    line: BarBuilder,
}

/// The state to draw, its layout, and its colours.
#[derive(Clone, Copy)]
pub(super) struct DrawingInput<'a> {
    pub(super) side: Side<'a>,
    pub(super) state: &'a DeviceState,
    pub(super) arranged: &'a SegmentOrder,
    pub(super) flow: &'a SegmentLayout,
    pub(super) colouring: Grouping,
}

/// A segment and its position in pixels.
struct Placed<'a> {
    segment: &'a Segment,
    bytes_per_px: f64,
    pixels: u64,
    /// The part of the segment in the current row, in pixels from the segment's start: start and end (exclusive).
    bar: [u64; 2],
}

impl Placed<'_> {
    /// Returns the pixel edge nearest to an address, in pixels from the start of the segment.
    fn edge(&self, address: u64) -> u64 {
        if address >= self.segment.end {
            return self.pixels;
        }
        let bytes = address.saturating_sub(self.segment.address);
        ((bytes as f64 / self.bytes_per_px).round() as u64).min(self.pixels)
    }

    /// Converts a pixel edge from the start of the segment to the start of the current row.
    fn within(&self, edge: u64) -> u32 {
        (edge.clamp(self.bar[0], self.bar[1]) - self.bar[0]) as u32
    }

    fn is_last(&self) -> bool {
        self.bar[1] == self.pixels
    }
}

impl Drawing {
    pub(super) fn new(flow: &SegmentLayout, [first, count]: [u32; 2]) -> Drawing {
        let positions = flow.places.as_deref().unwrap_or_default();
        // The previous segment may continue in the first row.
        let rank = positions.partition_point(|&[row, _]| row < first).saturating_sub(1);
        let rows = [first, first.saturating_add(count.min(MAX_ROWS))];
        let mut line = BarBuilder::default();
        line.is_list = flow.width_px == 0;
        Drawing { rows, rank, line, ..Drawing::default() }
    }

    /// Continues drawing the requested rows until complete or the time slice is used up.
    pub(super) fn step(&mut self, subject: DrawingInput<'_>, slice: &mut TimeSlice) -> SliceResult {
        while let Some((bar, x, placed)) = self.next_bar(subject) {
            slice.spend(16)?;
            self.fill(subject, &placed, slice)?;
            self.end(bar, x);
        }
        Ok(())
    }

    /// Returns the next bar, its left edge in pixels, and the position of its segment. `None` if the requested rows are
    /// complete.
    fn next_bar<'a>(&mut self, subject: DrawingInput<'a>) -> Option<(SegmentsBar, u32, Placed<'a>)> {
        let DrawingInput { state, arranged, flow, .. } = subject;
        let width = u64::from(flow.width_px);
        loop {
            let &[row, x] = flow.places.as_deref()?.get(self.rank)?;
            if row >= self.rows[1] {
                return None;
            }
            let segment = arranged.order.get(self.rank).and_then(|&index| state.segments.get(index as usize))?;
            let pixels = flow.pixels(segment.sums.reserved);
            self.part = self.part.max(self.rows[0].saturating_sub(row).into());
            let first = self.part * width;
            let current_row = u64::from(row).saturating_add(self.part);
            if (self.part > 0 && first >= pixels) || current_row >= self.rows[1].into() {
                (self.rank, self.part) = (self.rank + 1, 0);
                continue;
            }
            let beyond = first.saturating_add(width).min(pixels);
            let bytes = (first as f64 * flow.bytes_per_px) as u64;
            let bar = SegmentsBar {
                row: current_row as u32,
                x: [x, x + (beyond - first) as u32],
                address: segment.address.saturating_add(bytes),
                segment: segment.address,
                sums: segment.sums,
                largest_block: segment.largest_block.map(|(id, _)| id),
                pieces: [0; 2],
                ends: [first == 0, beyond == pixels],
            };
            return Some((bar, x, Placed { segment, bytes_per_px: flow.bytes_per_px, pixels, bar: [first, beyond] }));
        }
    }

    /// Continues dividing a bar into live blocks and free blocks.
    fn fill(&mut self, subject: DrawingInput<'_>, placed: &Placed<'_>, slice: &mut TimeSlice) -> SliceResult {
        let blocks = subject.state.blocks_of(placed.segment);
        let [first, beyond] = placed.bar;
        let next = self.block.unwrap_or_else(|| blocks.partition_point(|block| placed.edge(block.to) < first));
        let free = subject.state.free_of(placed.segment, next);
        for ((free, bytes), index) in free.zip(next..) {
            self.block = Some(index);
            slice.tick()?;
            let x = [free, free.saturating_add(bytes)].map(|address| placed.within(placed.edge(address)));
            if bytes > 0 && (x[0] < x[1] || self.line.is_list) {
                let piece = SegmentsPiece {
                    x,
                    kind: PieceKind::Free,
                    address: free,
                    rounded: bytes,
                    ..SegmentsPiece::default()
                };
                self.line.push_free(Part { piece, ..Part::default() });
            }
            let Some(block) = blocks.get(index) else { break };
            let edges = [block.from, block.to].map(|address| placed.edge(address));
            if edges[0] >= beyond && !placed.is_last() {
                break;
            }
            let x = edges.map(|edge| placed.within(edge));
            // A block without a pixel is counted in the row of its start.
            if x[0] < x[1] || edges[0] >= first {
                let is_thin = ((block.to - block.from) as f64) < placed.bytes_per_px && !self.line.is_list;
                self.line.push_block(part(subject, placed, block, x), is_thin);
            }
        }
        self.block = None;
        Ok(())
    }

    fn end(&mut self, mut bar: SegmentsBar, left: u32) {
        self.line.finish();
        bar.pieces[0] = self.pieces.len() as u32;
        self.pieces.extend(self.line.pieces.drain(..).map(|Part { mut piece, .. }| {
            piece.x = piece.x.map(|x| x + left);
            piece
        }));
        bar.pieces[1] = self.pieces.len() as u32;
        self.bars.push(bar);
        self.part += 1;
    }
}

/// Converts a block to a piece of a bar.
fn part(subject: DrawingInput<'_>, placed: &Placed<'_>, block: &Block, x: [u32; 2]) -> Part {
    let DrawingInput { side, state, .. } = subject;
    let id = AllocationId(block.id);
    let requested = side.history.allocations.size(id);
    let (rounded, known) = side.device_data().rounded_size(id);
    let is_pending = side.device_data().awaiting_free(id).is_some_and(|[from, _]| from <= state.moment);
    let rounding_from = block.from.saturating_add(requested).min(block.to);
    Part {
        piece: SegmentsPiece {
            x,
            kind: if is_pending { PieceKind::AwaitingFree } else { PieceKind::Live },
            paint: side.file.paint(side.history, id, subject.colouring).0,
            address: block.from,
            allocation: block.id,
            count: 1,
            requested,
            rounded,
            recorded: known == SizeSource::Recorded,
        },
        largest: block.to - block.from,
        rounding_from: placed.within(placed.edge(rounding_from)),
    }
}
