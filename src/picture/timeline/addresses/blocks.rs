//! Allocations in a window of addresses, their rows, and the first and last column of each.

use super::source::AddressSource;
use crate::timeline::columns::Grid;
use crate::timeline::scene::SceneColumns;
use crate::timeline::view::View;
use crate::timeline::visible::{Changes, Visible, count_hidden};
use base::slice::{SliceResult, TimeSlice};
use history::replay::AllocationId;
use std::ops::Range;

/// Returns the rows that bytes `[lowest, above)` of the address axis cover, clipped to the window. If they round to no
/// row, returns the row of their middle. Returns `None` outside the window.
pub(super) fn rows_of(view: &View, [lowest, above]: [u64; 2]) -> Option<[i16; 2]> {
    let [mut lower, mut upper] = [lowest, above].map(|byte| view.row_from_bytes(byte));
    if lower >= upper {
        let middle = lowest + above.saturating_sub(lowest) / 2;
        lower = ((middle as f64 / view.bytes_per_px) as i64).saturating_sub(view.bottom_px);
        upper = lower.saturating_add(1);
    }
    let [lower, upper] = [lower, upper].map(|row| row.clamp(0, i64::from(view.height_px)) as i16);
    (lower < upper).then_some([lower, upper])
}

/// A visible block that is not assigned to a leaf yet.
#[derive(Clone, Copy, Debug)]
struct FoundBlock {
    id: u32,
    columns: [u16; 2],
    rows: [i16; 2],
    whole_px: u16,
}

/// Vertical position of a block, in pixels from the window's bottom.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockRows {
    pub(super) rows: [i16; 2],
    /// Height in whole pixels, before clipping.
    pub(super) whole_px: u16,
}

impl BlockRows {
    /// Returns the row of the block's middle.
    pub(super) fn middle(self) -> usize {
        (self.rows[0] + (self.rows[1] - self.rows[0] - 1) / 2).max(0) as usize
    }
}

/// Blocks that are in the window and live at the moment of at least one column, ordered by the row of their middle.
/// Each block is a leaf.
#[derive(Clone, Debug)]
pub(super) struct AddressBlocks {
    view: View,
    next: usize,
    found: Vec<FoundBlock>,
    /// First leaf of each row, and a last entry for the end. While blocks are being counted, entry `row + 1` is the
    /// number of blocks in `row`.
    starts: Vec<u32>,
    /// For each leaf: index of its block in `found`.
    order: Vec<u32>,
    filled: usize,
    added: usize,
    pub(super) visible: Visible,
    pub(super) block_rows: Vec<BlockRows>,
    pub(super) changes: Changes,
    stage: Stage,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Collect,
    Order,
    AddLeaves,
    Sort,
}

impl AddressBlocks {
    pub(super) fn new(view: &View) -> AddressBlocks {
        AddressBlocks {
            view: *view,
            next: 0,
            found: Vec::new(),
            starts: vec![0; view.height_px as usize + 2],
            order: Vec::new(),
            filled: 0,
            added: 0,
            visible: Visible::default(),
            block_rows: Vec::new(),
            changes: Changes::default(),
            stage: Stage::Collect,
        }
    }

    /// Returns the view that the blocks are collected for.
    pub(super) fn view(&self) -> &View {
        &self.view
    }

    /// Returns the leaves whose middle is in these rows.
    pub(super) fn leaves(&self, rows: Range<usize>) -> Range<u32> {
        let start = |row: usize| self.starts.get(row).or(self.starts.last()).copied().unwrap_or(0);
        start(rows.start)..start(rows.end)
    }

    /// Continues collecting and ordering the blocks until all are done or the time slice is used up.
    pub(super) fn step(
        &mut self,
        source: &AddressSource,
        grid: &Grid,
        columns: &mut SceneColumns,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        loop {
            self.stage = match self.stage {
                Stage::Collect => {
                    while let Some(ids) = slice.next_range(&mut self.next, source.source.allocations.len(), 1)? {
                        self.collect(source, grid, columns, ids);
                    }
                    self.count()
                }
                Stage::Order => {
                    while let Some(places) = slice.next_range(&mut self.filled, self.found.len(), 1)? {
                        self.put_in_order(places);
                    }
                    Stage::AddLeaves
                }
                Stage::AddLeaves => {
                    while let Some(leaves) = slice.next_range(&mut self.added, self.order.len(), 1)? {
                        self.add_leaves(source, grid, columns, leaves);
                    }
                    self.finish_order(grid)
                }
                Stage::Sort => return self.changes.sort(&self.visible, slice),
            };
        }
    }

    /// Collects the blocks of these allocations that are visible in the window.
    fn collect(&mut self, source: &AddressSource, grid: &Grid, columns: &mut SceneColumns, ids: Range<usize>) {
        let window = grid.all_moments();
        let allocations = source.source.allocations;
        for (id, (allocated_at, freed_at, size)) in (ids.start as u32..).zip(allocations.spans_in(ids)) {
            if freed_at <= window.start || allocated_at >= window.end || allocated_at >= freed_at || size == 0 {
                continue;
            }
            let shown = [allocated_at, freed_at].map(|moment| grid.first_column_from(&columns.moment, moment) as u16);
            if shown[0] >= shown[1] {
                if source.includes.is_none_or(|has| has(AllocationId(id))) {
                    count_hidden(columns, grid.column_of(allocated_at.max(window.start)), size);
                }
                continue;
            }
            let Some(place) = (source.place)(AllocationId(id)) else { continue };
            let Some(rows) = rows_of(&self.view, place) else { continue };
            let whole_px = (place[1].saturating_sub(place[0]) as f64 / self.view.bytes_per_px) as u16;
            let found = FoundBlock { id, columns: shown, rows, whole_px };
            if let Some(count) = self.starts.get_mut(found.rows().middle() + 1) {
                *count += 1;
            }
            self.found.push(found);
        }
    }

    fn count(&mut self) -> Stage {
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.order = vec![0; self.found.len()];
        Stage::Order
    }

    /// Assigns leaves to the blocks at the indices `places` of `found`. Advances the entry of each block's row in
    /// `starts`, so that it finally equals the start of the next row.
    fn put_in_order(&mut self, places: Range<usize>) {
        for place in places {
            let row = self.found.get(place).map_or(0, |found| found.rows().middle());
            if let Some(start) = self.starts.get_mut(row)
                && let Some(leaf) = self.order.get_mut(*start as usize)
            {
                *leaf = place as u32;
                *start += 1;
            }
        }
    }

    /// Adds these leaves to `visible`, in order.
    fn add_leaves(&mut self, source: &AddressSource, grid: &Grid, columns: &SceneColumns, leaves: Range<usize>) {
        for &place in self.order.get(leaves).unwrap_or_default() {
            if let Some(found) = self.found.get(place as usize) {
                self.visible.push(&source.source, grid, columns, found.id, found.columns);
                self.block_rows.push(found.rows());
            }
        }
    }

    fn finish_order(&mut self, grid: &Grid) -> Stage {
        // Each row's start is that of the next row now.
        self.starts.insert(0, 0);
        (self.found, self.order) = Default::default();
        self.changes = Changes::new(grid.len());
        Stage::Sort
    }
}

impl FoundBlock {
    fn rows(self) -> BlockRows {
        BlockRows { rows: self.rows, whole_px: self.whole_px }
    }
}
