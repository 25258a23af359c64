//! Merging of pieces in adjacent columns into quads. A piece that equals a piece of the previous column extends its
//! quad.

use super::highlight_set::HighlightSet;
use super::scene::{BAND, CONTINUED, FADED, PENDING, Quad, QuadIdentity};
use super::source::Source;
use super::tree::{LiveSums, LiveTree, TreeNode};
use super::visible::Visible;

/// Maximum number of quads of a scene. If there are more, θ is increased, so that more blocks are joined into bands.
pub const MAX_QUADS: usize = 300_000;

/// A part of a column's stack: one block, or a band of adjacent blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Tree node at the bottom of the piece.
    pub(super) first: TreeNode,
    /// Tree node at the top of the piece. If the piece is a single block, this is a leaf and equal to `first`.
    pub(super) last: TreeNode,
    pub(super) live: LiveSums,
    /// Lower and upper edge in pixels, clipped to the window.
    pub(super) rows: [i16; 2],
}

/// Quads of a scene while it grows from left to right.
#[derive(Clone, Debug, Default)]
pub(super) struct Quads {
    pub(super) quads: Vec<Quad>,
    pub(super) identities: Vec<QuadIdentity>,
    /// Quads that extend up to the left edge of the current column, bottom up.
    open: Vec<OpenQuad>,
    /// Number of quads in `open` that have been processed in the current column.
    processed: usize,
    next: Vec<OpenQuad>,
    /// Position after each piece of the current column. Before the next column starts, these are the positions of the
    /// previous one.
    steps: Vec<StackPosition>,
}

/// Position in a column's stack, at the upper end of a piece.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StackPosition {
    pub(super) leaf: u64,
    /// Height from byte 0, in bytes.
    pub(super) height: u64,
    /// Number of quads that continue in the next column so far.
    open: usize,
}

#[derive(Clone, Copy, Debug)]
struct OpenQuad {
    first: TreeNode,
    last: TreeNode,
    rows: [i16; 2],
    /// The flags [`PENDING`] and [`FADED`] of the quad.
    marks: u32,
    quad: u32,
}

/// Inputs for the quads of one column.
pub(super) struct Context<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) visible: &'a Visible,
    pub(super) tree: &'a LiveTree,
    /// Live leaves that are highlighted. `None` if there is no highlight.
    pub(super) highlighted: Option<&'a HighlightSet>,
    /// Index of the column.
    pub(super) column: usize,
    /// Left and right edge of the column.
    pub(super) x: [i16; 2],
}

impl Context<'_> {
    /// Returns the [`PENDING`] and [`FADED`] flags of a piece. A quad continues only while its flags stay the same.
    #[inline(always)]
    fn marks(&self, piece: &Piece) -> u32 {
        let LiveSums { count, largest_leaf, .. } = piece.live;
        let is_pending = count == 1 && self.visible.is_pending(largest_leaf, self.column);
        let is_faded = self.highlighted.is_some_and(|highlighted| match count {
            1 => !self.visible.is_highlighted(largest_leaf),
            _ => !highlighted.any_in(u64::from(piece.first.first_leaf())..piece.last.end_leaf()),
        });
        (if is_pending { PENDING } else { 0 }) + if is_faded { FADED } else { 0 }
    }
}

impl Quads {
    /// Starts a column whose lowest changed leaf is `changed`. Reuses the pieces below this leaf from the previous
    /// column, so that their quads continue. Returns the position where further pieces start.
    ///
    /// The last piece below `changed` is added again, because its end may have moved.
    pub(super) fn keep_below(&mut self, changed: u32) -> StackPosition {
        let below = self.steps.partition_point(|step| step.leaf <= u64::from(changed));
        self.steps.truncate(below.saturating_sub(1));
        let step = self.steps.last().copied().unwrap_or_default();
        self.next.extend(self.open.iter().take(step.open));
        self.processed = step.open;
        step
    }

    /// Adds the next piece of a column, bottom up. `height` is the height of the stack including the piece, in bytes.
    #[inline(always)]
    pub(super) fn add(&mut self, piece: &Piece, height: u64, context: &Context) {
        self.piece(piece, context);
        self.steps.push(StackPosition { leaf: piece.last.end_leaf(), height, open: self.next.len() });
    }

    #[inline(always)]
    fn piece(&mut self, piece: &Piece, context: &Context) {
        if piece.rows[0] >= piece.rows[1] {
            return;
        }
        let (first, last, rows) = (piece.first, piece.last, piece.rows);
        let marks = context.marks(piece);
        while let Some(open) = self.open.get(self.processed) {
            if open.first == first && open.last == last && open.rows == rows && open.marks == marks {
                self.next.push(*open);
                self.processed += 1;
                return;
            }
            if open.first.first_leaf() > first.first_leaf() {
                break;
            }
            self.close(*open, context.x[0]);
            self.processed += 1;
        }
        self.next.push(OpenQuad { first, last, rows, marks, quad: self.quads.len() as u32 });
        self.start(piece, marks, context);
    }

    /// Ends the column whose left edge is `x`. Quads that do not continue in this column get the right edge `x`.
    pub(super) fn end_column(&mut self, x: i16) {
        while let Some(open) = self.open.get(self.processed) {
            self.close(*open, x);
            self.processed += 1;
        }
        std::mem::swap(&mut self.open, &mut self.next);
        self.next.clear();
        self.processed = 0;
    }

    fn start(&mut self, piece: &Piece, marks: u32, context: &Context) {
        let live = piece.live;
        let kind = if live.count > 1 {
            BAND
        } else if context.visible.enters(live.largest_leaf) < context.column {
            CONTINUED
        } else {
            0
        };
        let paint = (context.source.paint)(context.visible.id(live.largest_leaf));
        self.quads.push(Quad { x: context.x, y: piece.rows, paint: (u32::from(paint.0) + marks) | kind });
        self.identities.push(QuadIdentity {
            first: context.visible.id(context.tree.first_live(piece.first)).0,
            last: context.visible.id(context.tree.last_live(piece.last)).0,
            count: live.count,
            bytes: [live.bytes as u32, (live.bytes >> 32) as u32],
        });
    }

    fn close(&mut self, open: OpenQuad, x: i16) {
        if let Some(quad) = self.quads.get_mut(open.quad as usize) {
            quad.x[1] = x;
        }
    }
}
