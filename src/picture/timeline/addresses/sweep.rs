//! Conversion of a window's blocks to quads, column by column. Thin blocks are merged into cells.

use super::lying::{Lie, Lying};
use crate::timeline::Source;
use crate::timeline::columns::Grid;
use crate::timeline::scene::{BAND, CONTINUED, FADED, PENDING, Quad, QuadIdentity};
use crate::timeline::standing::Standing;
use crate::timeline::tree::{Live, LiveTree};
use crate::timeline::visible::Change;
use base::slice::{Slice, Sliced};

/// Candidates for θ in pixels. If the last one is not enough, it is doubled.
const CANDIDATES_PX: [u32; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];

/// Groups of θ rows. Their grid moves with the plane when the window is panned.
#[derive(Clone, Copy, Debug)]
struct Cells {
    band_px: u32,
    offset: u32,
}

impl Cells {
    fn new(band_px: u32, lying: &Lying) -> Cells {
        let offset = lying.view().bottom_px.rem_euclid(i64::from(band_px.max(1))) as u32;
        Cells { band_px: band_px.max(1), offset }
    }

    fn is_thin(self, lie: Lie) -> bool {
        u32::from(lie.whole_px) < self.band_px
    }

    fn of(self, row: usize) -> usize {
        (row + self.offset as usize) / self.band_px as usize
    }

    /// Returns the first row of a cell, which is also the end of the previous cell.
    fn row(self, cell: usize, rows: usize) -> usize {
        (cell * self.band_px as usize).saturating_sub(self.offset as usize).min(rows)
    }
}

/// Estimation of θ from the number of cells that change in each column.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    most_quads: usize,
    column: usize,
    done: usize,
    quads: [usize; CANDIDATES_PX.len()],
    /// For each cell and candidate: one more than the column of its last change.
    changed: Vec<[u16; CANDIDATES_PX.len()]>,
}

impl Estimate {
    pub(super) fn new(most_quads: usize) -> Estimate {
        Estimate { most_quads, column: 0, done: 0, quads: Default::default(), changed: Vec::new() }
    }

    /// Returns the smallest θ that keeps the scene within the maximum number of quads.
    pub(super) fn step(&mut self, lying: &Lying, grid: &Grid, slice: &mut Slice) -> Sliced<u32> {
        // Each block makes a quad when it enters and one when it leaves, rarely more.
        if lying.visible.len() * 2 <= self.most_quads {
            return Ok(1);
        }
        let cells = CANDIDATES_PX.map(|band_px| Cells::new(band_px, lying));
        let rows = lying.view().height_px as usize;
        self.changed.resize(rows + 2, Default::default());
        while self.column < grid.len() {
            for change in lying.changes.of(self.column, self.done) {
                let (Change::Goes(leaf) | Change::Comes(leaf)) = change;
                let Some(&lie) = lying.lies.get(leaf as usize) else { continue };
                for (at, cells) in cells.iter().enumerate() {
                    let slot = self.changed.get_mut(cells.of(lie.middle())).and_then(|cell| cell.get_mut(at));
                    let (Some(last), Some(quads)) = (slot, self.quads.get_mut(at)) else { continue };
                    if !cells.is_thin(lie) {
                        *quads += usize::from(matches!(change, Change::Comes(_)));
                    } else if *last != self.column as u16 + 1 {
                        *last = self.column as u16 + 1;
                        *quads += 1;
                    }
                }
                self.done += 1;
                slice.spend(2)?;
            }
            (self.column, self.done) = (self.column + 1, 0);
        }
        let fits = |quads: usize| quads <= self.most_quads / 16 * 15;
        let found = CANDIDATES_PX.iter().zip(self.quads).find(|&(_, quads)| fits(quads));
        Ok(found.or(CANDIDATES_PX.iter().zip(self.quads).next_back()).map_or(1, |(&band_px, _)| band_px))
    }
}

/// State of an attempt.
pub(super) enum Swept {
    TooMany,
    Done,
}

/// The quad of the thin blocks in a cell.
#[derive(Clone, Copy, Debug)]
struct Open {
    rows: [i16; 2],
    live: Live,
    marks: u32,
    quad: u32,
    /// True if the cell's content has changed since.
    stale: bool,
}

/// An attempt with one θ.
#[derive(Clone, Debug)]
pub(super) struct Sweep {
    cells: Cells,
    most_quads: usize,
    tree: LiveTree,
    standing: Option<Standing>,
    column: usize,
    done: usize,
    /// One more than the leaf that covers each row. 0 if none does.
    cover: Vec<u32>,
    /// Number of live thin blocks, by cell.
    counts: Vec<u32>,
    /// Open quad of the thin blocks, by cell.
    open: Vec<Option<Open>>,
    /// One more than the last column that marked the cell.
    marked: Vec<u16>,
    /// Cells marked in the current column.
    dirty: Vec<u32>,
    /// Quad of each block that is not thin, by leaf.
    quad_of: Vec<u32>,
    quads: Vec<Quad>,
    identities: Vec<QuadIdentity>,
}

const NO_QUAD: u32 = u32::MAX;

impl Sweep {
    pub(super) fn new(band_px: u32, lying: &Lying, grid: &Grid, most_quads: usize) -> Sweep {
        let cells = Cells::new(band_px, lying);
        let rows = lying.view().height_px as usize;
        let count = cells.of(rows) + 1;
        debug_assert!(grid.len() < usize::from(u16::MAX), "columns are counted in 16 bits");
        Sweep {
            cells,
            most_quads,
            tree: LiveTree::new(lying.visible.len()),
            standing: None,
            column: 0,
            done: 0,
            cover: vec![0; rows],
            counts: vec![0; count],
            open: vec![None; count],
            marked: vec![0; count],
            dirty: Vec::new(),
            quad_of: vec![NO_QUAD; lying.visible.len()],
            quads: Vec::new(),
            identities: Vec::new(),
        }
    }

    /// Returns θ.
    pub(super) fn band_px(&self) -> u32 {
        self.cells.band_px
    }

    /// Returns θ, the quads and their identities.
    pub(super) fn finish(self) -> (u32, Vec<Quad>, Vec<QuadIdentity>) {
        (self.cells.band_px, self.quads, self.identities)
    }

    /// Draws more columns.
    pub(super) fn step(&mut self, source: &Source, lying: &Lying, grid: &Grid, slice: &mut Slice) -> Sliced<Swept> {
        if source.highlight.is_some() {
            self.standing.get_or_insert_with(|| Standing::new(lying.visible.len()));
        }
        let end = grid.edge_px(grid.len()) as i16;
        while self.column < grid.len() {
            let brush = Brush { source, lying, column: self.column, x: [grid.edge_px(self.column) as i16, end] };
            for change in lying.changes.of(self.column, self.done) {
                let (Change::Goes(leaf) | Change::Comes(leaf)) = change;
                let Some(&lie) = lying.lies.get(leaf as usize) else { continue };
                match (change, self.cells.is_thin(lie)) {
                    (Change::Goes(_), true) => self.thin_goes(leaf, lie),
                    (Change::Comes(_), true) => self.thin_comes(&brush, leaf, lie),
                    (Change::Goes(_), false) => self.goes(&brush, leaf, lie),
                    (Change::Comes(_), false) => self.comes(&brush, leaf, lie),
                }
                self.done += 1;
                slice.spend(2)?;
            }
            for leaf in lying.changes.pending_from(self.column) {
                self.pends(&brush, leaf);
            }
            let mut dirty = std::mem::take(&mut self.dirty);
            dirty.drain(..).for_each(|cell| self.draw_cell(&brush, cell as usize));
            self.dirty = dirty;
            (self.column, self.done) = (self.column + 1, 0);
            if self.quads.len() > self.most_quads {
                return Ok(Swept::TooMany);
            }
            slice.check()?;
        }
        Ok(Swept::Done)
    }

    /// Marks a cell that may look different in this column.
    fn mark(&mut self, cell: usize) {
        let column = self.column as u16 + 1;
        if let Some(marked) = self.marked.get_mut(cell).filter(|marked| **marked != column) {
            *marked = column;
            self.dirty.push(cell as u32);
        }
    }

    fn content_changes(&mut self, cell: usize) {
        self.mark(cell);
        if let Some(Some(open)) = self.open.get_mut(cell) {
            open.stale = true;
        }
    }

    fn thin_goes(&mut self, leaf: u32, lie: Lie) {
        let cell = self.cells.of(lie.middle());
        self.tree.remove(leaf);
        self.standing.iter_mut().for_each(|standing| standing.remove(leaf));
        if let Some(count) = self.counts.get_mut(cell) {
            *count -= 1;
        }
        self.content_changes(cell);
    }

    fn thin_comes(&mut self, brush: &Brush, leaf: u32, lie: Lie) {
        let cell = self.cells.of(lie.middle());
        self.tree.insert(leaf, brush.size(leaf));
        if brush.lying.visible.stands_out(leaf) {
            self.standing.iter_mut().for_each(|standing| standing.insert(leaf));
        }
        if let Some(count) = self.counts.get_mut(cell) {
            *count += 1;
        }
        self.content_changes(cell);
    }

    fn goes(&mut self, brush: &Brush, leaf: u32, lie: Lie) {
        self.close(self.quad_of.get(leaf as usize).copied().unwrap_or(NO_QUAD), brush);
        let [lower, upper] = lie.rows.map(|row| row.max(0) as usize);
        for cover in self.cover.get_mut(lower..upper).unwrap_or_default() {
            if *cover == leaf + 1 {
                *cover = 0;
            }
        }
        self.cover_changes([lower, upper]);
    }

    fn comes(&mut self, brush: &Brush, leaf: u32, lie: Lie) {
        // Live blocks never overlap. In a corrupt file they may, and then the later one gets the rows that are left.
        let [lower, upper] = self.free_part(lie.rows.map(|row| row.max(0) as usize));
        if lower >= upper {
            return;
        }
        self.cover.get_mut(lower..upper).unwrap_or_default().fill(leaf + 1);
        self.cover_changes([lower, upper]);
        self.draw_block(brush, leaf, [lower as i16, upper as i16]);
    }

    /// Returns the first run of uncovered rows in this range.
    fn free_part(&self, [lower, upper]: [usize; 2]) -> [usize; 2] {
        let rows = self.cover.get(lower..upper).unwrap_or_default();
        let first = rows.iter().position(|&cover| cover == 0).unwrap_or(rows.len());
        let length = rows.iter().skip(first).take_while(|&&cover| cover == 0).count();
        [lower + first, lower + first + length]
    }

    fn cover_changes(&mut self, [lower, upper]: [usize; 2]) {
        if lower < upper {
            (self.cells.of(lower)..=self.cells.of(upper - 1)).for_each(|cell| self.mark(cell));
        }
    }

    fn pends(&mut self, brush: &Brush, leaf: u32) {
        let Some(&lie) = brush.lying.lies.get(leaf as usize) else { return };
        if self.cells.is_thin(lie) {
            return self.mark(self.cells.of(lie.middle()));
        }
        let before = self.quad_of.get(leaf as usize).copied().unwrap_or(NO_QUAD);
        let drawn = self.quads.get(before as usize).copied();
        if let Some(quad) = drawn.filter(|quad| quad.x[0] < brush.x[0]) {
            self.close(before, brush);
            self.draw_block(brush, leaf, quad.y);
        }
    }

    fn draw_block(&mut self, brush: &Brush, leaf: u32, rows: [i16; 2]) {
        let is_faded = self.standing.is_some() && !brush.lying.visible.stands_out(leaf);
        let bytes = brush.size(leaf);
        let live = Live { bytes, largest: bytes, largest_leaf: leaf, count: 1 };
        let marks = brush.pending(live) + if is_faded { FADED } else { 0 };
        let quad = self.push(brush, live, [leaf; 2], rows, marks);
        if let Some(slot) = self.quad_of.get_mut(leaf as usize) {
            *slot = quad;
        }
    }

    /// Draws a cell from this column on, unless its quad is unchanged.
    fn draw_cell(&mut self, brush: &Brush, cell: usize) {
        let new = self.seen(brush, cell);
        let Some(slot) = self.open.get(cell).copied() else { return };
        if let (Some(open), Some((rows, live, _, marks))) = (slot, new)
            && !open.stale
            && (open.rows, open.live, open.marks) == (rows, live, marks)
        {
            return;
        }
        if let Some(open) = slot {
            self.close(open.quad, brush);
        }
        let open = new.map(|(rows, live, ends, marks)| {
            let quad = self.push(brush, live, ends, rows, marks);
            Open { rows, live, marks, quad, stale: false }
        });
        if let Some(slot) = self.open.get_mut(cell) {
            *slot = open;
        }
    }

    /// Returns the visible part of a cell's thin blocks: rows, sums, first and last leaf, and flags.
    fn seen(&self, brush: &Brush, cell: usize) -> Option<([i16; 2], Live, [u32; 2], u32)> {
        self.counts.get(cell).filter(|&&count| count > 0)?;
        let [lower, upper] = [cell, cell + 1].map(|cell| self.cells.row(cell, self.cover.len()));
        let rows = self.free_part([lower, upper]);
        if rows[0] >= rows[1] {
            return None;
        }
        let leaves = brush.lying.leaves(lower..upper);
        let (live, ends) = self.tree.live_in(leaves.clone());
        let leaves = u64::from(leaves.start)..u64::from(leaves.end);
        let is_faded = self.standing.as_ref().is_some_and(|standing| !standing.any_in(leaves));
        let marks = brush.pending(live) + if is_faded { FADED } else { 0 };
        Some((rows.map(|row| row as i16), live, ends, marks))
    }

    fn push(&mut self, brush: &Brush, live: Live, ends: [u32; 2], rows: [i16; 2], marks: u32) -> u32 {
        let visible = &brush.lying.visible;
        let kind = match live.count {
            1 if visible.enters(live.largest_leaf) < brush.column => CONTINUED,
            1 => 0,
            _ => BAND,
        };
        let paint = (brush.source.paint)(visible.id(live.largest_leaf));
        self.quads.push(Quad { x: brush.x, y: rows, paint: (u32::from(paint.0) + marks) | kind });
        self.identities.push(QuadIdentity {
            first: visible.id(ends[0]).0,
            last: visible.id(ends[1]).0,
            count: live.count,
            bytes: [live.bytes as u32, (live.bytes >> 32) as u32],
        });
        self.quads.len() as u32 - 1
    }

    fn close(&mut self, quad: u32, brush: &Brush) {
        if let Some(quad) = self.quads.get_mut(quad as usize) {
            quad.x[1] = brush.x[0];
        }
    }
}

/// Inputs for drawing one column, with its left edge and the right edge of the window.
struct Brush<'a> {
    source: &'a Source<'a>,
    lying: &'a Lying,
    column: usize,
    x: [i16; 2],
}

impl Brush<'_> {
    fn size(&self, leaf: u32) -> u64 {
        self.source.allocations.size(self.lying.visible.id(leaf))
    }

    fn pending(&self, live: Live) -> u32 {
        let is_pending = live.count == 1 && self.lying.visible.is_pending(live.largest_leaf, self.column);
        if is_pending { PENDING } else { 0 }
    }
}
