//! Pictures of addresses: one rectangle per block, from address to address, over the mapped memory. Built in slices.
//!
//! ```text
//! Totals ──▶ columns ──▶ mapped ──▶ blocks ──▶ sweep ──▶ Scene        (driven by AddressJob)
//! ```
//!
//! A column shows the moment of its largest total, as in the stack. A live block covers the rows between its edges,
//! rounded as in the stack. A block lower than θ is *thin*. It belongs to the cell of θ rows that contains its middle.
//! The thin blocks of a cell are drawn as one rectangle in the colour of the largest, where no other block covers it.
//! So every live block is drawn, and a gap of a whole row is never painted over.

mod blocks;
mod column_context;
mod estimate;
mod mapped;
mod source;
mod sweep;

use super::columns::Grid;
use super::job::cut_to_largest;
use super::outline::OutlineRect;
use super::quads::MAX_QUADS;
use super::scene::{QuadIdentity, Scene, SceneColumns};
use super::view::View;
use base::slice::{OutOfTime, SliceResult, TimeSlice};
use blocks::{AddressBlocks, rows_of};
use estimate::Estimate;
use history::replay::AllocationId;
use mapped::MappedMemory;
pub use source::AddressSource;
use sweep::{Sweep, Swept};

/// A scene of addresses that is being built in time slices. Drop it to cancel.
#[derive(Clone, Debug)]
pub struct AddressJob {
    view: View,
    grid: Grid,
    columns: SceneColumns,
    ground: MappedMemory,
    blocks: AddressBlocks,
    stage: Stage,
}

/// Stages of a scene, in order. The sweep may start over with a larger θ.
#[derive(Clone, Debug)]
enum Stage {
    Moments,
    Ground,
    Collect,
    Estimate(Box<Estimate>),
    Sweep(Box<Sweep>),
    Done,
}

impl AddressJob {
    /// Creates a job for `view`, whose vertical axis is the address axis. Windows larger than
    /// [`MAX_WINDOW_PX`](super::MAX_WINDOW_PX) are cut.
    pub fn new(source: &AddressSource, view: View) -> AddressJob {
        let view = cut_to_largest(view);
        let grid = Grid::new(&view, source.source.requested.moment_count(), source.source.clock);
        let columns = grid.empty_columns();
        let (ground, blocks) = (MappedMemory::new(&view, &grid), AddressBlocks::new(&view));
        AddressJob { view, grid, columns, ground, blocks, stage: Stage::Moments }
    }

    /// Continues building the scene until it is complete or the time slice is used up. `source` must be the same in
    /// every call.
    ///
    /// # Errors
    /// Returns [`OutOfTime`] if the time slice is used up, or if the scene was already returned.
    pub fn step(&mut self, source: &AddressSource, slice: &mut TimeSlice) -> SliceResult<Scene> {
        loop {
            match &mut self.stage {
                Stage::Moments => {
                    self.grid.choose_moments(&mut self.columns, &source.source, slice)?;
                    self.stage = Stage::Ground;
                }
                Stage::Ground => {
                    self.ground.step(source, &self.grid, &self.columns.moment, slice)?;
                    self.stage = Stage::Collect;
                }
                Stage::Collect => {
                    self.blocks.step(source, &self.grid, &mut self.columns, slice)?;
                    self.stage = Stage::Estimate(Box::new(Estimate::new(self.max_quads())));
                }
                Stage::Estimate(estimate) => {
                    let band_px = estimate.step(&self.blocks, &self.grid, slice)?;
                    self.stage = self.sweep(band_px);
                }
                Stage::Sweep(sweep) => match sweep.step(&source.source, &self.blocks, &self.grid, slice)? {
                    Swept::TooMany => {
                        let band_px = sweep.band_px() * 2;
                        self.stage = self.sweep(band_px);
                    }
                    Swept::Done => return self.take().ok_or(OutOfTime),
                },
                Stage::Done => return Err(OutOfTime),
            }
        }
    }

    /// Creates a scene in one call, without time slices.
    pub fn run(source: &AddressSource, view: View) -> Option<Scene> {
        AddressJob::new(source, view).step(source, &mut TimeSlice::new(&mut || true)).ok()
    }

    fn max_quads(&self) -> usize {
        MAX_QUADS - self.ground.quads.len()
    }

    fn sweep(&self, band_px: u32) -> Stage {
        Stage::Sweep(Box::new(Sweep::new(band_px, &self.blocks, &self.grid, self.max_quads())))
    }

    fn take(&mut self) -> Option<Scene> {
        let Stage::Sweep(sweep) = std::mem::replace(&mut self.stage, Stage::Done) else { return None };
        let (band_px, blocks, block_identities) = sweep.finish();
        let mut quads = std::mem::take(&mut self.ground.quads);
        let ground = quads.len();
        let no_block = QuadIdentity { first: u32::MAX, last: u32::MAX, count: 0, bytes: [0; 2] };
        let mut identities = vec![no_block; ground];
        quads.extend(blocks);
        identities.extend(block_identities);
        let columns = std::mem::take(&mut self.columns);
        Some(Scene { view: self.view, band_px, columns, quads, identities, ground: Some(ground as u32) })
    }
}

/// Returns the rectangle of an allocation in a window, at least a pixel high and wide, even if the scene has no
/// separate quad for it. If no column shows a moment of the allocation's lifetime, the rectangle is in the column where
/// the allocation starts. Returns `None` outside the window.
pub fn address_outline(source: &AddressSource, view: &View, allocation: AllocationId) -> Option<OutlineRect> {
    let id = Some(allocation).filter(|id| (id.0 as usize) < source.source.allocations.len())?;
    let rows = rows_of(view, (source.place)(id)?)?;
    let (allocated_at, freed_at, _) = source.source.allocations.span(id);
    let grid = Grid::new(view, source.source.requested.moment_count(), source.source.clock);
    let mut columns = grid.empty_columns();
    grid.choose_moments(&mut columns, &source.source, &mut TimeSlice::new(&mut || true)).ok()?;
    let window = grid.all_moments();
    if allocated_at >= freed_at || allocated_at >= window.end || freed_at <= window.start {
        return None;
    }
    let [enters, leaves] = [allocated_at, freed_at].map(|moment| grid.first_column_from(&columns.moment, moment));
    let column = grid.column_of(allocated_at.max(window.start));
    let [from, to] = if enters < leaves { [enters, leaves] } else { [column, column + 1] };
    Some(OutlineRect { x: [from, to].map(|column| grid.edge_px(column)), y: rows.map(i32::from) })
}
