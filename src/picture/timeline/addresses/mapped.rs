//! Mapped memory behind the blocks: the rows that reserved ranges cover at the moment of each column.

use super::blocks::rows_of;
use super::source::AddressSource;
use crate::timeline::columns::Grid;
use crate::timeline::quads::MAX_QUADS;
use crate::timeline::scene::{GROUND, Quad};
use crate::timeline::view::View;
use base::slice::{SliceResult, TimeSlice};
use history::replay::AllocationId;
use std::ops::Range;

/// Maximum number of quads. If there are more, rows are merged.
const MAX_QUADS_LIMIT: usize = MAX_QUADS / 4;

/// Time-sliced drawing of the mapped memory.
#[derive(Clone, Debug)]
pub(super) struct MappedMemory {
    view: View,
    /// Id of the next range to collect.
    next: usize,
    /// Ranges sorted by the column where they start, and ranges sorted by the column where they end. Packed as column
    /// << 32 | lower row << 16 | upper row.
    changes: [Vec<u64>; 2],
    done: [usize; 2],
    column: usize,
    /// Number of ranges that cover each row in the current column.
    counts: Vec<u32>,
    /// Indices of the quads that continue in the current column, bottom up.
    open: Vec<u32>,
    /// Number of rows that are merged into one, to limit the number of quads.
    thick: usize,
    pub(super) quads: Vec<Quad>,
    is_sorted: bool,
}

impl MappedMemory {
    pub(super) fn new(view: &View, grid: &Grid) -> MappedMemory {
        let (changes, done, open, quads) = Default::default();
        let counts = vec![0; if grid.len() > 0 { view.height_px as usize } else { 0 }];
        MappedMemory { view: *view, next: 0, changes, done, column: 0, counts, open, thick: 1, quads, is_sorted: false }
    }

    /// Continues collecting and drawing the ranges until all are done or the time slice is used up. `shown` contains
    /// the moment that each column shows.
    pub(super) fn step(
        &mut self,
        source: &AddressSource,
        grid: &Grid,
        shown: &[u32],
        slice: &mut TimeSlice,
    ) -> SliceResult {
        while let Some(part) = slice.next_range(&mut self.next, source.ranges.len(), 1)? {
            self.collect(source, grid, shown, part);
        }
        if !self.is_sorted {
            // Ids are in order of allocation, so only the ranges that leave need sorting.
            let [_, leaving] = &mut self.changes;
            leaving.sort_unstable();
            self.is_sorted = true;
        }
        while self.column < grid.len() {
            if self.apply() {
                self.draw([grid.edge_px(self.column), grid.edge_px(grid.len())].map(|px| px as i16));
            }
            self.column += 1;
            if self.quads.len() > MAX_QUADS_LIMIT {
                let (counts, thick) = (vec![0; self.counts.len()], self.thick * 2);
                (self.done, self.column, self.counts, self.thick) = ([0; 2], 0, counts, thick);
                (self.open, self.quads) = Default::default();
            }
            slice.check()?;
        }
        Ok(())
    }

    fn collect(&mut self, source: &AddressSource, grid: &Grid, shown: &[u32], ids: Range<usize>) {
        for (id, (allocated_at, freed_at, _)) in (ids.start as u32..).zip(source.ranges.spans_in(ids)) {
            let place = (source.range_place)(AllocationId(id)).filter(|[lowest, above]| lowest < above);
            let Some(rows) = place.and_then(|place| rows_of(&self.view, place)) else { continue };
            let [enters, leaves] = [allocated_at, freed_at].map(|moment| grid.first_column_from(shown, moment));
            if enters < leaves {
                let [entering, leaving] = &mut self.changes;
                let [lower, upper] = rows.map(|row| row.max(0) as u64);
                let packed = |column: usize| (column as u64) << 32 | lower << 16 | upper;
                entering.push(packed(enters));
                leaving.push(packed(leaves));
            }
        }
    }

    /// Applies the changes of the current column to the counts. Returns true if any count changed.
    fn apply(&mut self) -> bool {
        let MappedMemory { changes, done, column, counts, .. } = self;
        let mut has_changed = false;
        for (index, (changes, done)) in changes.iter().zip(done).enumerate() {
            while let Some(&change) = changes.get(*done).filter(|change| **change >> 32 == *column as u64) {
                let [lower, upper] = [change >> 16, change].map(|row| usize::from(row as u16));
                for count in counts.get_mut(lower..upper).unwrap_or_default() {
                    // Entering ranges are applied first, so no count is negative.
                    *count = if index == 0 { *count + 1 } else { count.saturating_sub(1) };
                }
                (*done, has_changed) = (*done + 1, true);
            }
        }
        has_changed
    }

    /// Draws the rows of the current column. A quad with the same rows as a new one continues instead.
    fn draw(&mut self, x: [i16; 2]) {
        let runs = self.runs();
        let mut open = std::mem::take(&mut self.open).into_iter().peekable();
        for Range { start, end } in runs {
            let y = [start as i16, end as i16];
            let mut continued = None;
            while let Some(&quad) = open.peek() {
                let Some(before) = self.quads.get_mut(quad as usize).filter(|before| before.y[0] <= y[0]) else {
                    break;
                };
                open.next();
                if before.y == y {
                    continued = Some(quad);
                } else {
                    before.x[1] = x[0];
                }
            }
            let quad = continued.unwrap_or(self.quads.len() as u32);
            if continued.is_none() {
                self.quads.push(Quad { x, y, paint: GROUND });
            }
            self.open.push(quad);
        }
        for quad in open {
            if let Some(quad) = self.quads.get_mut(quad as usize) {
                quad.x[1] = x[0];
            }
        }
    }

    /// Returns the groups of adjacent rows that contain a range.
    fn runs(&self) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (index, rows) in self.counts.chunks(self.thick).enumerate() {
            if rows.iter().all(|&count| count == 0) {
                continue;
            }
            let (from, to) = (index * self.thick, index * self.thick + rows.len());
            match runs.last_mut() {
                Some(last) if last.end == from => last.end = to,
                _ => runs.push(from..to),
            }
        }
        runs
    }
}
