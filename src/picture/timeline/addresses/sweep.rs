//! Conversion of a window's blocks to quads, column by column. The thin blocks of a cell are merged into one quad.

use super::blocks::{AddressBlocks, BlockRows};
use super::column_context::ColumnContext;
use super::estimate::Cells;
use crate::timeline::Source;
use crate::timeline::columns::Grid;
use crate::timeline::highlight_set::HighlightSet;
use crate::timeline::scene::{BAND, CONTINUED, FADED, Quad, QuadIdentity};
use crate::timeline::tree::{LiveSums, LiveTree};
use crate::timeline::visible::Change;
use base::slice::{SliceResult, TimeSlice};

/// Result of an attempt to draw the scene with one value of θ: too many quads, or a complete scene.
pub(super) enum Swept {
    TooMany,
    Done,
}

/// Unfinished quad for the thin blocks of a cell, and the content that it shows.
#[derive(Clone, Copy, Debug)]
struct OpenCell {
    rows: [i16; 2],
    live: LiveSums,
    marks: u32,
    quad: u32,
    /// True if the cell's content has changed after the quad was started.
    stale: bool,
}

/// State of an attempt to draw the scene with one value of θ, the height in pixels below which blocks are thin.
#[derive(Clone, Debug)]
pub(super) struct Sweep {
    cells: Cells,
    max_quads: usize,
    tree: LiveTree,
    highlighted: Option<HighlightSet>,
    column: usize,
    done: usize,
    /// For each row: one more than the leaf that covers it, or 0.
    cover: Vec<u32>,
    /// Number of live thin blocks, by cell.
    counts: Vec<u32>,
    /// Unfinished quad of the thin blocks, by cell.
    open: Vec<Option<OpenCell>>,
    /// For each cell: one more than the last column where the cell was marked, or 0.
    marked: Vec<u16>,
    /// Cells marked in the current column.
    dirty: Vec<u32>,
    /// For each leaf: index of its block's quad. [`NO_QUAD`] for thin blocks, which share the quad of their cell.
    quad_of: Vec<u32>,
    quads: Vec<Quad>,
    identities: Vec<QuadIdentity>,
}

const NO_QUAD: u32 = u32::MAX;

impl Sweep {
    pub(super) fn new(band_px: u32, blocks: &AddressBlocks, grid: &Grid, max_quads: usize) -> Sweep {
        let cells = Cells::new(band_px, blocks);
        let rows = blocks.view().height_px as usize;
        let count = cells.cell_of_row(rows) + 1;
        debug_assert!(grid.len() < usize::from(u16::MAX), "columns are counted in 16 bits");
        Sweep {
            cells,
            max_quads,
            tree: LiveTree::new(blocks.visible.len()),
            highlighted: None,
            column: 0,
            done: 0,
            cover: vec![0; rows],
            counts: vec![0; count],
            open: vec![None; count],
            marked: vec![0; count],
            dirty: Vec::new(),
            quad_of: vec![NO_QUAD; blocks.visible.len()],
            quads: Vec::new(),
            identities: Vec::new(),
        }
    }

    /// Returns θ, the height in pixels below which blocks are thin.
    pub(super) fn band_px(&self) -> u32 {
        self.cells.band_px
    }

    /// Returns θ, the quads and their identities.
    pub(super) fn finish(self) -> (u32, Vec<Quad>, Vec<QuadIdentity>) {
        (self.cells.band_px, self.quads, self.identities)
    }

    /// Continues drawing columns until all are drawn, there are too many quads, or the time slice is used up.
    pub(super) fn step(
        &mut self,
        source: &Source,
        blocks: &AddressBlocks,
        grid: &Grid,
        slice: &mut TimeSlice,
    ) -> SliceResult<Swept> {
        if source.highlight.is_some() {
            self.highlighted.get_or_insert_with(|| HighlightSet::new(blocks.visible.len()));
        }
        let end = grid.edge_px(grid.len()) as i16;
        while self.column < grid.len() {
            let context =
                ColumnContext { source, blocks, column: self.column, x: [grid.edge_px(self.column) as i16, end] };
            for change in blocks.changes.in_column(self.column, self.done) {
                let (Change::Leave(leaf) | Change::Enter(leaf)) = change;
                let Some(&block) = blocks.block_rows.get(leaf as usize) else { continue };
                match (change, self.cells.is_thin(block)) {
                    (Change::Leave(_), true) => self.leave_thin(leaf, block),
                    (Change::Enter(_), true) => self.enter_thin(&context, leaf, block),
                    (Change::Leave(_), false) => self.leave(&context, leaf, block),
                    (Change::Enter(_), false) => self.enter(&context, leaf, block),
                }
                self.done += 1;
                slice.spend(2)?;
            }
            for leaf in blocks.changes.pending_from(self.column) {
                self.await_free(&context, leaf);
            }
            let mut dirty = std::mem::take(&mut self.dirty);
            dirty.drain(..).for_each(|cell| self.draw_cell(&context, cell as usize));
            self.dirty = dirty;
            (self.column, self.done) = (self.column + 1, 0);
            if self.quads.len() > self.max_quads {
                return Ok(Swept::TooMany);
            }
            slice.check()?;
        }
        Ok(Swept::Done)
    }

    /// Marks a cell whose picture may change in this column.
    fn mark_cell(&mut self, cell: usize) {
        let column = self.column as u16 + 1;
        if let Some(marked) = self.marked.get_mut(cell).filter(|marked| **marked != column) {
            *marked = column;
            self.dirty.push(cell as u32);
        }
    }

    fn mark_content(&mut self, cell: usize) {
        self.mark_cell(cell);
        if let Some(Some(open)) = self.open.get_mut(cell) {
            open.stale = true;
        }
    }

    fn leave_thin(&mut self, leaf: u32, block: BlockRows) {
        let cell = self.cells.cell_of_row(block.middle());
        self.tree.remove(leaf);
        self.highlighted.iter_mut().for_each(|highlighted| highlighted.remove(leaf));
        if let Some(count) = self.counts.get_mut(cell) {
            *count -= 1;
        }
        self.mark_content(cell);
    }

    fn enter_thin(&mut self, context: &ColumnContext, leaf: u32, block: BlockRows) {
        let cell = self.cells.cell_of_row(block.middle());
        self.tree.insert(leaf, context.size(leaf));
        if context.blocks.visible.is_highlighted(leaf) {
            self.highlighted.iter_mut().for_each(|highlighted| highlighted.insert(leaf));
        }
        if let Some(count) = self.counts.get_mut(cell) {
            *count += 1;
        }
        self.mark_content(cell);
    }

    fn leave(&mut self, context: &ColumnContext, leaf: u32, block: BlockRows) {
        self.close(self.quad_of.get(leaf as usize).copied().unwrap_or(NO_QUAD), context);
        let [lower, upper] = block.rows.map(|row| row.max(0) as usize);
        for cover in self.cover.get_mut(lower..upper).unwrap_or_default() {
            if *cover == leaf + 1 {
                *cover = 0;
            }
        }
        self.mark_rows([lower, upper]);
    }

    fn enter(&mut self, context: &ColumnContext, leaf: u32, block: BlockRows) {
        // Live blocks never overlap. In a corrupt file they may, and then the later one gets the rows that are left.
        let [lower, upper] = self.free_part(block.rows.map(|row| row.max(0) as usize));
        if lower >= upper {
            return;
        }
        self.cover.get_mut(lower..upper).unwrap_or_default().fill(leaf + 1);
        self.mark_rows([lower, upper]);
        self.draw_block(context, leaf, [lower as i16, upper as i16]);
    }

    /// Returns the lowest group of adjacent uncovered rows in this range.
    fn free_part(&self, [lower, upper]: [usize; 2]) -> [usize; 2] {
        let rows = self.cover.get(lower..upper).unwrap_or_default();
        let first = rows.iter().position(|&cover| cover == 0).unwrap_or(rows.len());
        let length = rows.iter().skip(first).take_while(|&&cover| cover == 0).count();
        [lower + first, lower + first + length]
    }

    fn mark_rows(&mut self, [lower, upper]: [usize; 2]) {
        if lower < upper {
            (self.cells.cell_of_row(lower)..=self.cells.cell_of_row(upper - 1)).for_each(|cell| self.mark_cell(cell));
        }
    }

    fn await_free(&mut self, context: &ColumnContext, leaf: u32) {
        let Some(&block) = context.blocks.block_rows.get(leaf as usize) else { return };
        if self.cells.is_thin(block) {
            return self.mark_cell(self.cells.cell_of_row(block.middle()));
        }
        let before = self.quad_of.get(leaf as usize).copied().unwrap_or(NO_QUAD);
        let drawn = self.quads.get(before as usize).copied();
        if let Some(quad) = drawn.filter(|quad| quad.x[0] < context.x[0]) {
            self.close(before, context);
            self.draw_block(context, leaf, quad.y);
        }
    }

    fn draw_block(&mut self, context: &ColumnContext, leaf: u32, rows: [i16; 2]) {
        let is_faded = self.highlighted.is_some() && !context.blocks.visible.is_highlighted(leaf);
        let bytes = context.size(leaf);
        let live = LiveSums { bytes, largest: bytes, largest_leaf: leaf, count: 1 };
        let marks = context.pending(live) + if is_faded { FADED } else { 0 };
        let quad = self.push(context, live, [leaf; 2], rows, marks);
        if let Some(slot) = self.quad_of.get_mut(leaf as usize) {
            *slot = quad;
        }
    }

    /// Ends a cell's quad at this column and starts a new one, unless its content is unchanged.
    fn draw_cell(&mut self, context: &ColumnContext, cell: usize) {
        let new = self.visible_part(context, cell);
        let Some(slot) = self.open.get(cell).copied() else { return };
        if let (Some(open), Some((rows, live, _, marks))) = (slot, new)
            && !open.stale
            && (open.rows, open.live, open.marks) == (rows, live, marks)
        {
            return;
        }
        if let Some(open) = slot {
            self.close(open.quad, context);
        }
        let open = new.map(|(rows, live, ends, marks)| {
            let quad = self.push(context, live, ends, rows, marks);
            OpenCell { rows, live, marks, quad, stale: false }
        });
        if let Some(slot) = self.open.get_mut(cell) {
            *slot = open;
        }
    }

    /// Returns the visible part of a cell's thin blocks: rows, sums, first and last leaf, and flags. Returns `None` if
    /// the cell has none, or if other blocks cover the cell.
    fn visible_part(&self, context: &ColumnContext, cell: usize) -> Option<([i16; 2], LiveSums, [u32; 2], u32)> {
        self.counts.get(cell).filter(|&&count| count > 0)?;
        let [lower, upper] = [cell, cell + 1].map(|cell| self.cells.row(cell, self.cover.len()));
        let rows = self.free_part([lower, upper]);
        if rows[0] >= rows[1] {
            return None;
        }
        let leaves = context.blocks.leaves(lower..upper);
        let (live, ends) = self.tree.live_in(leaves.clone());
        let leaves = u64::from(leaves.start)..u64::from(leaves.end);
        let is_faded = self.highlighted.as_ref().is_some_and(|highlighted| !highlighted.any_in(leaves));
        let marks = context.pending(live) + if is_faded { FADED } else { 0 };
        Some((rows.map(|row| row as i16), live, ends, marks))
    }

    fn push(&mut self, context: &ColumnContext, live: LiveSums, ends: [u32; 2], rows: [i16; 2], marks: u32) -> u32 {
        let visible = &context.blocks.visible;
        let kind = match live.count {
            1 if visible.enters(live.largest_leaf) < context.column => CONTINUED,
            1 => 0,
            _ => BAND,
        };
        let paint = (context.source.paint)(visible.id(live.largest_leaf));
        self.quads.push(Quad { x: context.x, y: rows, paint: (u32::from(paint.0) + marks) | kind });
        self.identities.push(QuadIdentity {
            first: visible.id(ends[0]).0,
            last: visible.id(ends[1]).0,
            count: live.count,
            bytes: [live.bytes as u32, (live.bytes >> 32) as u32],
        });
        self.quads.len() as u32 - 1
    }

    fn close(&mut self, quad: u32, context: &ColumnContext) {
        if let Some(quad) = self.quads.get_mut(quad as usize) {
            quad.x[1] = context.x[0];
        }
    }
}
