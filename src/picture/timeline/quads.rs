//! Pieces of one column after another → quads: a piece that looks as it did in the column before makes its quad longer.

use super::scene::{BAND, CONTINUED, FADED, PENDING, Quad, QuadIdentity};
use super::source::Source;
use super::standing::Standing;
use super::tree::{Live, LiveTree, TreeNode};
use super::visible::Visible;

/// The most quads a scene has. Where it would have more, thin blocks are joined into higher bands.
pub const MAX_QUADS: usize = 300_000;

/// A part of one column's stack: one block, or neighbours joined into a band.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The lowest node of the tree it consists of.
    pub(super) first: TreeNode,
    /// The highest; equal to `first` and a leaf when the piece is one block.
    pub(super) last: TreeNode,
    pub(super) live: Live,
    /// Lower and upper edge in pixels of the window, clipped to it.
    pub(super) rows: [i16; 2],
}

/// The quads of a scene while it grows from left to right.
#[derive(Clone, Debug, Default)]
pub(super) struct Quads {
    pub(super) quads: Vec<Quad>,
    pub(super) identities: Vec<QuadIdentity>,
    /// The quads that reach up to the column in work, bottom up, and how many of them are dealt with.
    open: Vec<Open>,
    settled: usize,
    next: Vec<Open>,
    /// Where the stack stood after each piece of the column in work, before that of the column before.
    trail: Vec<Step>,
}

/// Where a column's stack stands after one of its pieces.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    pub(super) leaf: u64,
    /// In bytes.
    pub(super) height: u64,
    /// How many quads reach beyond the column so far.
    open: usize,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    first: TreeNode,
    last: TreeNode,
    rows: [i16; 2],
    /// [`PENDING`] and [`FADED`], as the quad has them.
    marks: u32,
    quad: u32,
}

/// What the quads of a column need to know: all of it stays the same within one.
pub(super) struct Context<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) visible: &'a Visible,
    pub(super) tree: &'a LiveTree,
    /// The live leaves that stand out, where anything does.
    pub(super) standing: Option<&'a Standing>,
    /// The column, and its left and right edge.
    pub(super) column: usize,
    pub(super) x: [i16; 2],
}

impl Context<'_> {
    /// [`PENDING`] and [`FADED`] of a piece in this column: a quad goes on only while they stay.
    #[inline(always)]
    fn marks(&self, piece: &Piece) -> u32 {
        let Live { count, largest_leaf, .. } = piece.live;
        let is_pending = count == 1 && self.visible.is_pending(largest_leaf, self.column);
        let is_faded = self.standing.is_some_and(|standing| match count {
            1 => !self.visible.stands_out(largest_leaf),
            _ => !standing.any_in(u64::from(piece.first.first_leaf())..piece.last.end_leaf()),
        });
        (if is_pending { PENDING } else { 0 }) + if is_faded { FADED } else { 0 }
    }
}

impl Quads {
    /// Begins a column whose lowest changed leaf is `changed` (or that of a group around it which became thin): the pieces below
    /// are those of the column before, and its quads go on. Where to begin looking for others.
    ///
    /// A piece ends where the next one begins, and that may have changed: so the last one below `changed` is looked for again.
    pub(super) fn keep_below(&mut self, changed: u32) -> Step {
        let below = self.trail.partition_point(|step| step.leaf <= u64::from(changed));
        self.trail.truncate(below.saturating_sub(1));
        let step = self.trail.last().copied().unwrap_or_default();
        self.next.extend(self.open.iter().take(step.open));
        self.settled = step.open;
        step
    }

    /// Takes the next piece of a column, bottom up, and the height of the stack with it.
    #[inline(always)]
    pub(super) fn add(&mut self, piece: &Piece, height: u64, context: &Context) {
        self.piece(piece, context);
        self.trail.push(Step { leaf: piece.last.end_leaf(), height, open: self.next.len() });
    }

    #[inline(always)]
    fn piece(&mut self, piece: &Piece, context: &Context) {
        if piece.rows[0] >= piece.rows[1] {
            return;
        }
        let (first, last, rows) = (piece.first, piece.last, piece.rows);
        let marks = context.marks(piece);
        while let Some(open) = self.open.get(self.settled) {
            if open.first == first && open.last == last && open.rows == rows && open.marks == marks {
                self.next.push(*open);
                self.settled += 1;
                return;
            }
            if open.first.first_leaf() > first.first_leaf() {
                break;
            }
            self.close(*open, context.x[0]);
            self.settled += 1;
        }
        self.next.push(Open { first, last, rows, marks, quad: self.quads.len() as u32 });
        self.start(piece, marks, context);
    }

    /// The column whose left edge is `x` has no more pieces.
    pub(super) fn end_column(&mut self, x: i16) {
        while let Some(open) = self.open.get(self.settled) {
            self.close(*open, x);
            self.settled += 1;
        }
        std::mem::swap(&mut self.open, &mut self.next);
        self.next.clear();
        self.settled = 0;
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

    fn close(&mut self, open: Open, x: i16) {
        if let Some(quad) = self.quads.get_mut(open.quad as usize) {
            quad.x[1] = x;
        }
    }
}
