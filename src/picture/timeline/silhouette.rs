//! Overview of a whole device: totals by column, without the stack.

use super::columns::{Grid, MAX_WINDOW_PX};
use super::source::Source;
use super::view::{Axis, View};

/// Returns the maximum requested bytes and the maximum reserved bytes in each of `width_px` columns over the whole
/// axis. On the event axis, the columns start at event `first`, because earlier events may not be loaded. If there are
/// fewer moments than columns, columns are repeated.
pub fn silhouette(source: &Source, axis: Axis, first: u32, width_px: u32) -> (Vec<u64>, Vec<u64>) {
    let moments = source.requested.moment_count();
    let width = match axis {
        Axis::Events => u64::from(moments),
        Axis::Time => source.clock.map_or(1, |clock| clock.width()),
    };
    let start = if axis == Axis::Events { first.min(moments.saturating_sub(1)) } else { 0 };
    let fit = View::fit(width - u64::from(start), 1, width_px.min(MAX_WINDOW_PX), 1);
    let view = View { axis, left_px: (f64::from(start) / fit.x_per_px).round() as i64, ..fit };
    let grid = Grid::new(&view, moments, source.clock);
    let mut bytes = (Vec::new(), Vec::new());
    for column in 0..grid.len() {
        let highest = |curve: history::replay::Curve| {
            curve.max_in(grid.moments(column)).map_or(0, |(_, bytes)| bytes.max(0) as u64)
        };
        let pixels = (grid.edge_px(column + 1) - grid.edge_px(column)).max(0) as usize;
        bytes.0.resize(bytes.0.len() + pixels, highest(source.requested));
        bytes.1.resize(bytes.1.len() + pixels, highest(source.reserved));
    }
    bytes
}
