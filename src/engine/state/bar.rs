//! Divides a bar into pieces: blocks and the free space between them, from left to right. Each pixel belongs to exactly
//! one piece.
//!
//! Edges are rounded to whole pixels, so a live or free block that is at least one pixel wide gets a pixel. Thinner
//! live blocks are joined with thin neighbours until they share a pixel. If they are still too thin, they take a pixel
//! from adjacent free space of at least two pixels, or from an adjacent block of at least three pixels. Otherwise, they
//! are added to the block before them.
//!
//! So every block belongs to a piece. Free space of a pixel or more is only painted over if the bar would otherwise
//! show no block.

use protocol::{PieceKind, SegmentsPiece};

/// Builder of the pieces of a bar, from left to right.
#[derive(Default)]
pub(super) struct BarBuilder {
    /// True if every block becomes a separate piece, regardless of its width.
    pub(super) is_list: bool,
    pub(super) pieces: Vec<Part>,
    /// Blocks too thin to have a pixel, which are not part of a piece yet.
    thin_blocks: Option<Part>,
}

/// A piece of the bar, and the size of its largest block in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    pub(super) piece: SegmentsPiece,
    pub(super) largest: u64,
    /// Pixel at which the unused bytes start that result from rounding.
    pub(super) rounding_from: u32,
}

/// Minimum width in pixels of a piece that can give a pixel to adjacent thin blocks: for free space, and for a block.
const MIN_GIVING_WIDTH: [u32; 2] = [2, 3];

impl Part {
    fn width(&self) -> u32 {
        self.piece.x[1] - self.piece.x[0]
    }

    fn is_free(&self) -> bool {
        self.piece.kind == PieceKind::Free
    }

    fn is_live(&self) -> bool {
        matches!(self.piece.kind, PieceKind::Live | PieceKind::AwaitingFree)
    }

    /// Returns whether the piece is wide enough to give a pixel to adjacent thin blocks.
    fn can_give_pixel(&self) -> bool {
        self.width() >= MIN_GIVING_WIDTH[usize::from(!self.is_free())]
    }

    /// Adds the blocks of another piece to this piece.
    fn join(&mut self, other: &Part) {
        let (piece, added) = (&mut self.piece, &other.piece);
        if other.largest > self.largest {
            (piece.paint, piece.address, piece.allocation) = (added.paint, added.address, added.allocation);
            self.largest = other.largest;
        }
        if added.kind != PieceKind::AwaitingFree {
            piece.kind = PieceKind::Live;
        }
        piece.count = piece.count.saturating_add(added.count);
        piece.requested = piece.requested.saturating_add(added.requested);
        piece.rounded = piece.rounded.saturating_add(added.rounded);
        piece.recorded &= added.recorded;
    }
}

impl BarBuilder {
    /// Appends free space of at least one pixel.
    pub(super) fn push_free(&mut self, mut free: Part) {
        if let Some(open) = self.thin_blocks.take() {
            self.thin_blocks = self.place_thin(open, &mut free);
        }
        self.pieces.push(free);
    }

    /// Appends a block. `is_thin` is true if the block is thinner than a pixel.
    pub(super) fn push_block(&mut self, mut block: Part, is_thin: bool) {
        match self.thin_blocks.take() {
            Some(mut open) if is_thin && open.piece.x[1] == block.piece.x[0] => {
                open.piece.x[1] = block.piece.x[1];
                open.join(&block);
                block = open;
            }
            Some(open) => {
                if let Some(open) = self.place_thin(open, &mut block) {
                    block.join(&open);
                }
            }
            None => {}
        }
        if block.width() == 0 && !self.is_list {
            self.thin_blocks = Some(block);
        } else {
            self.push(block);
        }
    }

    /// Completes the bar. If thin blocks are left at the end, they get a pixel.
    pub(super) fn finish(&mut self) {
        let Some(mut open) = self.thin_blocks.take() else { return };
        let end = open.piece.x[1];
        let mut next = Part { piece: SegmentsPiece { x: [end; 2], ..SegmentsPiece::default() }, ..Part::default() };
        if let Some(left) = self.place_thin(open, &mut next) {
            open = left;
            // There are only free blocks of one pixel each. Replace the smallest of them.
            match self.pieces.iter_mut().min_by_key(|part| part.piece.rounded) {
                Some(last) => {
                    open.piece.x = last.piece.x;
                    *last = open;
                }
                None => {
                    open.piece.x = [0, 1];
                    self.pieces.push(open);
                }
            }
        }
    }

    /// Takes a pixel from an adjacent piece for the thin blocks. If this is not possible, adds them to an earlier
    /// block. If there is no earlier block, returns the thin blocks.
    fn place_thin(&mut self, mut open: Part, next: &mut Part) -> Option<Part> {
        let start = open.piece.x[0];
        let last = self.pieces.last_mut();
        let is_adjacent = next.piece.x[0] == start;
        if let Some(last) = last.filter(|last| {
            last.piece.x[1] == start && last.can_give_pixel() && !(next.is_free() && next.can_give_pixel())
        }) {
            last.piece.x[1] -= 1;
            open.piece.x = [start - 1, start];
        } else if is_adjacent && next.can_give_pixel() {
            next.piece.x[0] += 1;
            open.piece.x = [start, start + 1];
        } else {
            return match self.pieces.iter_mut().rev().find(|part| part.is_live()) {
                Some(block) => {
                    block.join(&open);
                    None
                }
                None => Some(open),
            };
        }
        self.pieces.push(open);
        None
    }

    /// Appends a block that has at least one pixel. If its unused bytes from rounding are visible, appends them as
    /// another piece.
    fn push(&mut self, mut block: Part) {
        let [from, to] = block.piece.x;
        let rounding_from = block.rounding_from.max(from);
        let is_visible = block.piece.count == 1 && from < rounding_from && rounding_from < to;
        let mut rounding = block;
        if is_visible {
            block.piece.x[1] = rounding_from;
            rounding.piece.x[0] = rounding_from;
            rounding.piece.kind = PieceKind::Rounding;
            rounding.piece.address = rounding.piece.address.saturating_add(rounding.piece.requested);
            rounding.piece.rounded = rounding.piece.rounded.saturating_sub(rounding.piece.requested);
            rounding.piece.requested = 0;
        }
        self.pieces.push(block);
        if is_visible {
            self.pieces.push(rounding);
        }
    }
}
