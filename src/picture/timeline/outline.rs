//! Exact outline of one allocation in a window, even if the scene merges it into a band, or if no column shows a moment
//! of its lifetime.

use super::columns::{Grid, MAX_WINDOW_PX};
use super::source::Source;
use super::view::View;
use base::units::Moment;
use history::replay::AllocationId;
use serde::{Deserialize, Serialize};

/// A rectangle in pixels of the window. `y` counts upwards from the bottom edge. The right and upper edges are
/// exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutlineRect {
    /// Left and right edge, clipped to the window.
    pub x: [i32; 2],
    /// Lower and upper edge, clipped to the window and at least a pixel apart.
    pub y: [i32; 2],
}

/// Returns the rectangles that an allocation covers, from left to right and at least a pixel high. Adjacent columns of
/// the same height are merged. If no column shows a moment of the allocation's lifetime, the rectangle is in the column
/// where the allocation starts.
///
/// Takes one pass over the allocations of lower rank: a few milliseconds per million. Parts outside the window are
/// omitted.
pub fn exact_outline(source: &Source, view: &View, allocation: AllocationId) -> Vec<OutlineRect> {
    if allocation.0 as usize >= source.allocations.len() {
        return Vec::new();
    }
    let (allocated_at, freed_at, size) = source.allocations.span(allocation);
    let rank = source.rank(allocation) as usize;
    let grid = Grid::new(view, source.requested.moment_count(), source.clock);
    let mut shown: Vec<u32> = (0..grid.len()).map(|column| peak_moment(source, &grid, column)).collect();
    let window = grid.all_moments();
    let mut columns = grid.first_column_from(&shown, allocated_at)..grid.first_column_from(&shown, freed_at);
    if columns.is_empty() {
        if allocated_at >= freed_at || allocated_at >= window.end || freed_at <= window.start {
            return Vec::new();
        }
        // The allocation's own first moment instead of the one that the column shows.
        let column = grid.column_of(allocated_at.max(window.start));
        columns = column..column + 1;
        if let Some(moment) = shown.get_mut(column) {
            *moment = allocated_at.max(window.start);
        }
    }
    let lowest = lowest_bytes(source, rank, shown.get(columns.clone()).unwrap_or_default());
    let mut rects: Vec<OutlineRect> = Vec::new();
    for (column, lowest) in columns.zip(lowest) {
        let x = [grid.edge_px(column), grid.edge_px(column + 1)];
        let lower = view.row_from_bytes(lowest);
        let upper = view.row_from_bytes(lowest.saturating_add(size)).max(lower.saturating_add(1));
        let height = i64::from(view.height_px.min(MAX_WINDOW_PX));
        let y = [lower, upper].map(|row| row.clamp(0, height) as i32);
        match rects.last_mut() {
            _ if y[0] == y[1] => {}
            Some(last) if last.y == y && last.x[1] == x[0] => last.x[1] = x[1],
            _ => rects.push(OutlineRect { x, y }),
        }
    }
    rects
}

fn peak_moment(source: &Source, grid: &Grid, column: usize) -> u32 {
    let moments = grid.moments(column);
    source.requested.max_in(moments.clone()).map_or(moments.start, |(Moment(moment), _)| moment)
}

/// Returns the live bytes of all allocations below `rank` at each of `moments`, which must be ascending. Each lifetime
/// adds its bytes at its start and subtracts them at its end. The running sums are the results.
fn lowest_bytes(source: &Source, rank: usize, moments: &[u32]) -> Vec<u64> {
    let mut changes = vec![0u64; moments.len() + 1];
    source.for_each_in(0..rank, |_, (allocated_at, freed_at, size)| {
        let reached = |moment: u32| moments.partition_point(|&other| other < moment);
        let (enters, leaves) = (reached(allocated_at), reached(freed_at.max(allocated_at)));
        if enters < leaves {
            if let Some(change) = changes.get_mut(enters) {
                *change = change.wrapping_add(size);
            }
            if let Some(change) = changes.get_mut(leaves) {
                *change = change.wrapping_sub(size);
            }
        }
    });
    changes.truncate(moments.len());
    changes.iter_mut().fold(0u64, |height, change| {
        *change = height.wrapping_add(*change);
        *change
    });
    changes
}
