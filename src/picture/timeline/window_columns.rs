//! The columns of a window for those who draw curves over a scene: the same edges, and the moments of each.

use super::columns::Grid;
use super::view::View;
use history::replay::Clock;
use std::ops::Range;

/// Where columns are, and what they hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowColumns {
    /// Their edges in pixels of the window, one more than columns: those of a [`Scene`](super::Scene) of this view.
    pub edge_px: Vec<i32>,
    /// The moments that hold somewhere in each; at least one.
    pub moments: Vec<Range<u32>>,
}

impl WindowColumns {
    /// Those of `view` over the moments `0..moment_count`; none where the view makes no sense, or shows times that are not recorded.
    pub fn new(view: &View, moment_count: u32, clock: Option<Clock>) -> WindowColumns {
        let grid = Grid::new(view, moment_count, clock);
        WindowColumns {
            edge_px: (0..=grid.len()).map(|column| grid.edge_px(column)).collect(),
            moments: (0..grid.len()).map(|column| grid.moments(column)).collect(),
        }
    }
}
