//! Columns of a window, for drawing curves over a scene. They equal the scene's columns.

use super::columns::Grid;
use super::view::View;
use history::replay::TimeAxis;
use std::ops::Range;

/// Positions and moments of a window's columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowColumns {
    /// Edges of the columns in pixels of the window. One entry more than columns. Same as in a [`Scene`](super::Scene)
    /// of this view.
    pub edge_px: Vec<i32>,
    /// Range of moments in each column. Contains at least one moment.
    pub moments: Vec<Range<u32>>,
}

impl WindowColumns {
    /// Returns the columns of `view` over the moments `0..moment_count`. Empty if the view is invalid, or if it shows
    /// times that are not recorded.
    pub fn new(view: &View, moment_count: u32, clock: Option<TimeAxis>) -> WindowColumns {
        let grid = Grid::new(view, moment_count, clock);
        WindowColumns {
            edge_px: (0..=grid.len()).map(|column| grid.edge_px(column)).collect(),
            moments: (0..grid.len()).map(|column| grid.moments(column)).collect(),
        }
    }
}
