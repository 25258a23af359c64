//! Estimation of θ, the height of a cell, from the number of cells that change in each column.

use crate::timeline::addresses::blocks::{AddressBlocks, BlockRows};
use crate::timeline::columns::Grid;
use crate::timeline::visible::Change;
use base::slice::{SliceResult, TimeSlice};

/// Candidates for θ in pixels. If even the last one gives too many quads, it is doubled.
const CANDIDATES_PX: [u32; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];

/// Cells of θ rows each. Their boundaries move with the content when the window is panned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    pub(super) band_px: u32,
    offset: u32,
}

impl Cells {
    pub(super) fn new(band_px: u32, blocks: &AddressBlocks) -> Cells {
        let offset = blocks.view().bottom_px.rem_euclid(i64::from(band_px.max(1))) as u32;
        Cells { band_px: band_px.max(1), offset }
    }

    pub(super) fn is_thin(self, block: BlockRows) -> bool {
        u32::from(block.whole_px) < self.band_px
    }

    pub(super) fn cell_of_row(self, row: usize) -> usize {
        (row + self.offset as usize) / self.band_px as usize
    }

    /// Returns the first row of a cell, which is the end of the previous cell. Clamped to `rows`.
    pub(super) fn row(self, cell: usize, rows: usize) -> usize {
        (cell * self.band_px as usize).saturating_sub(self.offset as usize).min(rows)
    }
}

/// Estimation of θ from the number of cells that change in each column.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    max_quads: usize,
    column: usize,
    done: usize,
    quads: [usize; CANDIDATES_PX.len()],
    /// For each cell and candidate: one more than the column of the cell's last change, or 0.
    changed: Vec<[u16; CANDIDATES_PX.len()]>,
}

impl Estimate {
    pub(super) fn new(max_quads: usize) -> Estimate {
        Estimate { max_quads, column: 0, done: 0, quads: Default::default(), changed: Vec::new() }
    }

    /// Counts the changes of the next columns. Returns the smallest θ that likely keeps the scene within the maximum
    /// number of quads.
    pub(super) fn step(&mut self, blocks: &AddressBlocks, grid: &Grid, slice: &mut TimeSlice) -> SliceResult<u32> {
        // Each block makes a quad when it enters and one when it leaves, rarely more.
        if blocks.visible.len() * 2 <= self.max_quads {
            return Ok(1);
        }
        let cells = CANDIDATES_PX.map(|band_px| Cells::new(band_px, blocks));
        let rows = blocks.view().height_px as usize;
        self.changed.resize(rows + 2, Default::default());
        while self.column < grid.len() {
            for change in blocks.changes.in_column(self.column, self.done) {
                let (Change::Leave(leaf) | Change::Enter(leaf)) = change;
                let Some(&block) = blocks.block_rows.get(leaf as usize) else { continue };
                for (index, cells) in cells.iter().enumerate() {
                    let slot =
                        self.changed.get_mut(cells.cell_of_row(block.middle())).and_then(|cell| cell.get_mut(index));
                    let (Some(last), Some(quads)) = (slot, self.quads.get_mut(index)) else { continue };
                    if !cells.is_thin(block) {
                        *quads += usize::from(matches!(change, Change::Enter(_)));
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
        let fits = |quads: usize| quads <= self.max_quads / 16 * 15;
        let found = CANDIDATES_PX.iter().zip(self.quads).find(|&(_, quads)| fits(quads));
        Ok(found.or(CANDIDATES_PX.iter().zip(self.quads).next_back()).map_or(1, |(&band_px, _)| band_px))
    }
}
