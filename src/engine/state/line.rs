//! The pieces of one bar: its blocks and what is free between them, from left to right, each pixel in exactly one.
//!
//! Edges are rounded to whole pixels, so a block or a free block of a pixel or more has at least one. Neighbouring blocks that are
//! thinner are joined until they have one as well. What stays without takes a pixel where there are two of what is free beside it, else
//! one from a block of three; else it is counted to the block before it. So a free block of a pixel or more is never painted over, but
//! where nothing would be seen of a bar's blocks; and no block is lost.

use crate::protocol::{PieceKind, StatePiece};

/// A bar in the making.
#[derive(Default)]
pub(super) struct Line {
    /// Whether every block is a piece of its own, whatever its width.
    pub(super) is_list: bool,
    pub(super) pieces: Vec<Part>,
    /// Thin blocks that have no pixel yet.
    open: Option<Part>,
}

/// A piece, and the bytes of the largest block in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    pub(super) piece: StatePiece,
    pub(super) largest: u64,
    /// Where the part that was not requested begins, in pixels.
    pub(super) lost_from: u32,
}

/// What is free beside thin blocks, or a block there, is this many pixels wide at least where it gives one away.
const GIVES: [u32; 2] = [2, 3];

impl Part {
    fn width(&self) -> u32 {
        self.piece.x[1] - self.piece.x[0]
    }

    fn is_free(&self) -> bool {
        self.piece.kind == PieceKind::Free
    }

    fn is_live(&self) -> bool {
        matches!(self.piece.kind, PieceKind::Live | PieceKind::Pending)
    }

    /// Whether a pixel of it can be had.
    fn gives(&self) -> bool {
        self.width() >= GIVES[usize::from(!self.is_free())]
    }

    /// Counts other blocks to this.
    fn join(&mut self, other: &Part) {
        let (mine, its) = (&mut self.piece, &other.piece);
        if other.largest > self.largest {
            (mine.paint, mine.address, mine.allocation) = (its.paint, its.address, its.allocation);
            self.largest = other.largest;
        }
        if its.kind != PieceKind::Pending {
            mine.kind = PieceKind::Live;
        }
        mine.count = mine.count.saturating_add(its.count);
        mine.requested = mine.requested.saturating_add(its.requested);
        mine.rounded = mine.rounded.saturating_add(its.rounded);
        mine.recorded &= its.recorded;
    }
}

impl Line {
    /// What is free next: a pixel or more.
    pub(super) fn free(&mut self, mut free: Part) {
        if let Some(open) = self.open.take() {
            self.open = self.settle(open, &mut free);
        }
        self.pieces.push(free);
    }

    /// The next block; `is_thin`: it is thinner than a pixel.
    pub(super) fn block(&mut self, mut block: Part, is_thin: bool) {
        match self.open.take() {
            Some(mut open) if is_thin && open.piece.x[1] == block.piece.x[0] => {
                open.piece.x[1] = block.piece.x[1];
                open.join(&block);
                block = open;
            }
            Some(open) => {
                if let Some(open) = self.settle(open, &mut block) {
                    block.join(&open);
                }
            }
            None => {}
        }
        if block.width() == 0 && !self.is_list {
            self.open = Some(block);
        } else {
            self.push(block);
        }
    }

    /// Ends the bar.
    pub(super) fn end(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        let place = open.piece.x[1];
        let mut behind = Part { piece: StatePiece { x: [place; 2], ..StatePiece::default() }, ..Part::default() };
        if let Some(left) = self.settle(open, &mut behind) {
            open = left;
            // Nothing but free blocks of a pixel each: the smallest of them gives way.
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

    /// Finds room for thin blocks before what comes next; gives them back where there is none, not even beside a block.
    fn settle(&mut self, mut open: Part, next: &mut Part) -> Option<Part> {
        let place = open.piece.x[0];
        let last = self.pieces.last_mut();
        let beside = next.piece.x[0] == place;
        if let Some(last) =
            last.filter(|last| last.piece.x[1] == place && last.gives() && !(next.is_free() && next.gives()))
        {
            last.piece.x[1] -= 1;
            open.piece.x = [place - 1, place];
        } else if beside && next.gives() {
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

    /// A block with a place, and beside it what was not requested, where that is seen.
    fn push(&mut self, mut block: Part) {
        let [from, to] = block.piece.x;
        let lost_from = block.lost_from.max(from);
        let is_seen = block.piece.count == 1 && from < lost_from && lost_from < to;
        let mut lost = block;
        if is_seen {
            block.piece.x[1] = lost_from;
            lost.piece.x[0] = lost_from;
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
