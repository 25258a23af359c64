//! Pieces of one bar: its blocks and the free space between them, from left to right. Each pixel belongs to exactly
//! one piece.
//!
//! Edges are rounded to whole pixels, so a block or free block of at least one pixel's size has a pixel. Thinner
//! blocks are joined with thin neighbours until they have a pixel. If they still have none, they take one from
//! adjacent free space of two or more pixels, or from an adjacent block of three or more. Otherwise they are counted
//! with the block before them.
//!
//! So no block is lost, and free space of a pixel or more is never painted over, unless none of the bar's blocks
//! would be visible.

use crate::protocol::{PieceKind, SegmentsPiece};

/// Bar under construction.
#[derive(Default)]
pub(super) struct BarBuilder {
    /// True if every block becomes a piece of its own, whatever its width.
    pub(super) is_list: bool,
    pub(super) pieces: Vec<Part>,
    /// Thin blocks that have no pixel yet.
    thin_blocks: Option<Part>,
}

/// A piece, and the size of its largest block in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    pub(super) piece: SegmentsPiece,
    pub(super) largest: u64,
    /// Pixel at which the rounding (bytes that were not requested) starts.
    pub(super) rounding_from: u32,
}

/// Minimum width of free space, and of a block, that gives a pixel to adjacent thin blocks.
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

    /// Returns whether the piece is wide enough to give a pixel away.
    fn can_give_pixel(&self) -> bool {
        self.width() >= MIN_GIVING_WIDTH[usize::from(!self.is_free())]
    }

    /// Adds the blocks of another piece to this one.
    fn join(&mut self, other: &Part) {
        let (mine, its) = (&mut self.piece, &other.piece);
        if other.largest > self.largest {
            (mine.paint, mine.address, mine.allocation) = (its.paint, its.address, its.allocation);
            self.largest = other.largest;
        }
        if its.kind != PieceKind::AwaitingFree {
            mine.kind = PieceKind::Live;
        }
        mine.count = mine.count.saturating_add(its.count);
        mine.requested = mine.requested.saturating_add(its.requested);
        mine.rounded = mine.rounded.saturating_add(its.rounded);
        mine.recorded &= its.recorded;
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

    /// Appends a block. `is_thin` means that it is thinner than a pixel.
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

    /// Completes the bar.
    pub(super) fn finish(&mut self) {
        let Some(mut open) = self.thin_blocks.take() else { return };
        let place = open.piece.x[1];
        let mut behind = Part { piece: SegmentsPiece { x: [place; 2], ..SegmentsPiece::default() }, ..Part::default() };
        if let Some(left) = self.place_thin(open, &mut behind) {
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

    /// Finds a pixel for thin blocks before the next piece, or adds them to an earlier block. Returns them if neither
    /// is possible.
    fn place_thin(&mut self, mut open: Part, next: &mut Part) -> Option<Part> {
        let place = open.piece.x[0];
        let last = self.pieces.last_mut();
        let beside = next.piece.x[0] == place;
        if let Some(last) = last.filter(|last| {
            last.piece.x[1] == place && last.can_give_pixel() && !(next.is_free() && next.can_give_pixel())
        }) {
            last.piece.x[1] -= 1;
            open.piece.x = [place - 1, place];
        } else if beside && next.can_give_pixel() {
            next.piece.x[0] += 1;
            open.piece.x = [place, place + 1];
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

    /// Appends a block that has pixels, followed by its rounding if that is visible.
    fn push(&mut self, mut block: Part) {
        let [from, to] = block.piece.x;
        let rounding_from = block.rounding_from.max(from);
        let is_seen = block.piece.count == 1 && from < rounding_from && rounding_from < to;
        let mut lost = block;
        if is_seen {
            block.piece.x[1] = rounding_from;
            lost.piece.x[0] = rounding_from;
            lost.piece.kind = PieceKind::Rounding;
            lost.piece.address = lost.piece.address.saturating_add(lost.piece.requested);
            lost.piece.rounded = lost.piece.rounded.saturating_sub(lost.piece.requested);
            lost.piece.requested = 0;
        }
        self.pieces.push(block);
        if is_seen {
            self.pieces.push(lost);
        }
    }
}
