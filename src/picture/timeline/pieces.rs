//! Splitting of one column's live tree into pieces, bottom up.
//!
//! A block or group of blocks lower than θ is *thin*. Adjacent thin ones are joined into a band until it reaches θ. A
//! band keeps its exact height. So pieces are at least θ high, except a band that ends below a block that is not thin,
//! or at the top of the stack.

use super::column_cursor::ColumnCursor;
use super::quads::{Context, Piece, Quads, StackPosition};
use super::source::Source;
use super::tree::{LiveSums, LiveTree, TreeNode};
use super::view::View;
use super::visible::Visible;

/// Adds a column to `quads`, with θ = `band_px`. `changed` is the lowest changed leaf. The pieces below it are reused
/// from the previous column. `x` contains the column's left and right edge.
pub(super) fn descend(
    quads: &mut Quads,
    cursor: &ColumnCursor,
    band_px: u32,
    changed: u32,
    (source, visible, view): (&Source, &Visible, &View),
    (column, x): (usize, [i16; 2]),
) {
    // Without a change, the quads of the previous column continue.
    if changed == u32::MAX {
        return;
    }
    let thin_below = (f64::from(band_px) * view.bytes_per_px).ceil() as u64;
    let ColumnCursor { tree, highlighted, .. } = cursor;
    let context = Context { source, visible, tree, highlighted: highlighted.as_ref(), column, x };
    let from = quads.keep_below(tree.start_of_thin(changed, thin_below));
    Descent::new(view, thin_below, from, &context, quads).run();
    quads.end_column(x[0]);
}

/// Traversal of a column's tree, which adds the pieces inside the window to `quads`.
struct Descent<'a> {
    context: &'a Context<'a>,
    quads: &'a mut Quads,
    view: View,
    /// Bytes that the window covers: the lowest, and one past the highest.
    window: [u64; 2],
    thin_below: u64,
    /// Height of the pieces emitted so far, in bytes.
    height: u64,
    /// `height` as a row of the window.
    row: i16,
    /// First leaf that is not emitted yet.
    next_leaf: u64,
    band: Option<Band>,
}

/// Group of adjacent thin pieces that have been joined so far.
#[derive(Clone, Copy)]
struct Band {
    first: TreeNode,
    last: TreeNode,
    live: LiveSums,
}

impl<'a> Descent<'a> {
    /// Creates a descent that starts at `from`. Blocks smaller than `thin_below` bytes are joined.
    fn new(view: &View, thin_below: u64, from: StackPosition, context: &'a Context<'a>, quads: &'a mut Quads) -> Self {
        // One pixel more on either side, for pieces that round into the window.
        let lowest = view.bytes_from_row(-1.0).max(0.0) as u64;
        let above = view.bytes_from_row(f64::from(view.height_px) + 1.0).max(0.0) as u64;
        let window = [lowest, above.saturating_add(1)];
        let (height, next_leaf, row) = (from.height, from.leaf, clipped_row(view, from.height));
        Descent { context, quads, view: *view, window, thin_below, height, row, next_leaf, band: None }
    }

    /// Emits all pieces that touch the window.
    fn run(mut self) {
        let tree = self.context.tree;
        let root = tree.root();
        if tree.live(root).count > 0 {
            self.visit(tree, root, tree.live(root));
        }
        self.end_band();
    }

    // Recursion is at most eleven levels deep, like the tree.
    fn visit(&mut self, tree: &LiveTree, node: TreeNode, live: LiveSums) {
        if u64::from(node.first_leaf()) < self.next_leaf {
            // Partly or completely emitted already.
            if node.end_leaf() > self.next_leaf {
                tree.for_each_child(node, |child, live| self.visit(tree, child, live));
            }
            return;
        }
        let lowest = self.height.wrapping_add(self.band.map_or(0, |band| band.live.bytes));
        if lowest >= self.window[1] {
            return;
        }
        if lowest.wrapping_add(live.bytes) <= self.window[0] {
            self.end_band();
            self.advance(live.bytes);
            return;
        }
        // A single live block needs no descent.
        let node = if live.count == 1 { TreeNode::leaf(live.largest_leaf) } else { node };
        if live.bytes < self.thin_below {
            self.join(node, live);
        } else if node.level == 0 {
            self.end_band();
            self.emit(node, node, live);
        } else {
            tree.for_each_child(node, |child, live| self.visit(tree, child, live));
        }
    }

    fn join(&mut self, node: TreeNode, live: LiveSums) {
        let band = match self.band {
            Some(band) => Band { last: node, live: band.live.plus(live), ..band },
            None => Band { first: node, last: node, live },
        };
        self.band = Some(band);
        if band.live.bytes >= self.thin_below {
            self.end_band();
        }
    }

    fn end_band(&mut self) {
        if let Some(band) = self.band.take() {
            self.emit(band.first, band.last, band.live);
        }
    }

    fn emit(&mut self, first: TreeNode, last: TreeNode, live: LiveSums) {
        let lower = self.row;
        self.advance(live.bytes);
        self.quads.add(&Piece { first, last, live, rows: [lower, self.row] }, self.height, self.context);
    }

    fn advance(&mut self, bytes: u64) {
        self.height = self.height.wrapping_add(bytes);
        self.row = clipped_row(&self.view, self.height);
    }
}

fn clipped_row(view: &View, bytes: u64) -> i16 {
    let height = view.height_px.min(super::MAX_WINDOW_PX);
    view.row_from_bytes(bytes).clamp(0, i64::from(height)) as i16
}
