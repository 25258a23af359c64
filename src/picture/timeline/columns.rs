//! Columns of a window: their positions, the moments in each, and the moment that each shows.
//!
//! ```text
//! moments wider than pixels           pixels wider than moments (here 2.5 a pixel)
//! moment   |   7   |   8   |   9      moment   | 0 | 1 | 2 | 3 | 4 | 5 |
//! column   |   0   |   1   |   2      column   |    0    |    1    |         moment 2 is in both
//! ```
//!
//! On the time axis a column is always one pixel. It contains the moment that is current at its left edge, unless that
//! moment ends there, and the moment after each event in the column, even if that moment has no duration.

use super::scene::SceneColumns;
use super::source::Source;
use super::view::{Axis, View};
use base::slice::{SliceResult, TimeSlice};
use base::units::Moment;
use history::replay::TimeAxis;
use std::ops::Range;

/// Maximum width and height of a window in pixels. Corners of quads are 16-bit.
pub const MAX_WINDOW_PX: u32 = i16::MAX as u32;

/// Columns of a window. There are no columns outside the recorded moments.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    view: View,
    moment_count: u32,
    /// Position of the first column: a moment if each column is one moment, else a pixel from the start of the axis.
    first: i64,
    len: usize,
    /// Moments of each column on the time axis. Empty on the event axis.
    timed: Vec<Range<u32>>,
}

impl Grid {
    /// Creates the columns of `view` over the moments `0..moment_count`. The result is empty if the view's scale is
    /// invalid, or if the view shows times and the file has none.
    pub(super) fn new(view: &View, moment_count: u32, clock: Option<TimeAxis>) -> Grid {
        let width = i64::from(view.width_px.min(MAX_WINDOW_PX));
        let mut grid = Grid { view: *view, moment_count, first: 0, len: 0, timed: Vec::new() };
        let scale = view.x_per_px;
        if !(scale.is_finite() && scale > 0.0 && view.bytes_per_px.is_finite() && view.bytes_per_px > 0.0) {
            return grid;
        }
        let (left, right) = (view.left_px, view.left_px.saturating_add(width));
        let units = match (view.axis, clock) {
            (Axis::Events, _) => f64::from(moment_count),
            (Axis::Time, Some(clock)) => clock.width() as f64,
            (Axis::Time, None) => 0.0,
        };
        let (start, end) = if grid.column_is_a_moment() {
            // Rounding may move a moment's border half a pixel, so the neighbours are checked too.
            let near = |px: i64| ((px as f64 * scale).floor() as i64).clamp(0, i64::from(moment_count));
            let outside = |moment: &i64| grid.plane_px(*moment + 1) <= left || grid.plane_px(*moment) >= right;
            let candidates = (near(left) - 1).max(0)..(near(right) + 2).min(i64::from(moment_count));
            let start = candidates.clone().find(|moment| !outside(moment)).unwrap_or(candidates.end);
            let end = candidates.clone().rev().find(|moment| !outside(moment)).map_or(start, |last| last + 1);
            (start, end)
        } else {
            (left.max(0), right.min((units / scale).ceil() as i64))
        };
        grid.first = start;
        grid.len = usize::try_from(end.saturating_sub(start)).unwrap_or(0);
        if let (Axis::Time, Some(clock)) = (view.axis, clock) {
            grid.timed =
                (start..start.saturating_add(grid.len as i64)).map(|px| moments_of_pixel(&clock, px, scale)).collect();
        }
        grid
    }

    /// Returns the number of columns.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the left edge of `column` in pixels, clipped to the window. The right edge equals the left edge of the
    /// next column.
    pub(super) fn edge_px(&self, column: usize) -> i32 {
        let position = self.first.saturating_add(column as i64);
        let plane_px = if self.column_is_a_moment() { self.plane_px(position) } else { position };
        let width = i64::from(self.view.width_px.min(MAX_WINDOW_PX));
        plane_px.saturating_sub(self.view.left_px).clamp(0, width) as i32
    }

    /// Returns the moments in `column`, at least one.
    pub(super) fn moments(&self, column: usize) -> Range<u32> {
        if self.view.axis == Axis::Time {
            return self.timed.get(column).cloned().unwrap_or(0..1);
        }
        let position = self.first.saturating_add(column as i64);
        if self.column_is_a_moment() {
            return position as u32..position as u32 + 1;
        }
        let start = (position as f64 * self.view.x_per_px).floor() as u32;
        let end = ((position + 1) as f64 * self.view.x_per_px).ceil() as u32;
        let start = start.min(self.moment_count.saturating_sub(1));
        start..end.clamp(start + 1, self.moment_count.max(1))
    }

    /// Returns the range of all moments in the window.
    pub(super) fn all_moments(&self) -> Range<u32> {
        match self.len.checked_sub(1) {
            Some(last) => self.moments(0).start..self.moments(last).end,
            None => 0..0,
        }
    }

    /// Returns the column where `moment` starts, clamped to the existing columns. Rounding may be off by one column at
    /// a border. On the event axis, a column is either one moment or one pixel (`column_is_a_moment`).
    pub(super) fn column_of(&self, moment: u32) -> usize {
        if self.view.axis == Axis::Time {
            let column = self.timed.partition_point(|moments| moments.end <= moment);
            return column.min(self.len.saturating_sub(1));
        }
        // In the same unit as `first`.
        let position =
            if self.column_is_a_moment() { i64::from(moment) } else { (f64::from(moment) / self.view.x_per_px) as i64 };
        (position.saturating_sub(self.first).max(0) as usize).min(self.len.saturating_sub(1))
    }

    /// Returns the first column whose shown moment is at or after `moment`, or the number of columns if no column is.
    /// `shown` has one moment per column, in ascending order.
    ///
    /// On the event axis this takes constant time, because the column is at most one away from [`Grid::column_of`].
    pub(super) fn first_column_from(&self, shown: &[u32], moment: u32) -> usize {
        if moment == u32::MAX {
            return shown.len();
        }
        if self.view.axis == Axis::Time {
            return shown.partition_point(|&other| other < moment);
        }
        let mut column = self.column_of(moment);
        while column > 0 && shown.get(column - 1).is_some_and(|&before| before >= moment) {
            column -= 1;
        }
        while shown.get(column).is_some_and(|&other| other < moment) {
            column += 1;
        }
        column
    }

    /// Returns the scene's columns with their positions. The other vectors are empty.
    pub(super) fn empty_columns(&self) -> SceneColumns {
        SceneColumns {
            edge_px: (0..=self.len).map(|column| self.edge_px(column)).collect(),
            moment: Vec::with_capacity(self.len),
            moments: (0..self.len).map(|column| self.moments(column).len() as u32).collect(),
            total: Vec::with_capacity(self.len),
            reserved: Vec::with_capacity(self.len),
            pending: Vec::with_capacity(self.len),
            hidden: vec![0; self.len],
            hidden_largest: vec![0; self.len],
        }
    }

    /// Continues choosing the moment that each column shows, and adds the totals at this moment. `columns` must come
    /// from [`Grid::empty_columns`].
    pub(super) fn choose_moments(
        &self,
        columns: &mut SceneColumns,
        source: &Source,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let mut next = columns.moment.len();
        while let Some(part) = slice.next_range(&mut next, self.len(), 64)? {
            for column in part {
                let moments = self.moments(column);
                let shown = source.requested.max_in(moments.clone()).unwrap_or((Moment(moments.start), 0));
                let reserved = source.reserved.max_in(moments).map_or(0, |(_, bytes)| bytes);
                columns.moment.push(shown.0.0);
                columns.total.push(shown.1.max(0) as u64);
                columns.reserved.push(reserved.max(0) as u64);
                let pending = source.pending.at(shown.0).clamp(0, shown.1.max(0));
                columns.pending.push(pending as u64);
            }
        }
        Ok(())
    }

    fn column_is_a_moment(&self) -> bool {
        self.view.axis == Axis::Events && self.view.x_per_px <= 1.0
    }

    /// Returns the position of `moment` in the scaled plane, in whole pixels.
    fn plane_px(&self, moment: i64) -> i64 {
        (moment as f64 / self.view.x_per_px).round() as i64
    }
}

/// Returns the moments in pixel `px` of the scaled time axis. `scale` is in microseconds per pixel.
fn moments_of_pixel(clock: &TimeAxis, px: i64, scale: f64) -> Range<u32> {
    let (left, right) = (px as f64 * scale, (px + 1) as f64 * scale);
    let carried_in = clock.events_before(left);
    let ends_at_once = clock.events_before(left.next_up()) > carried_in;
    let start = carried_in + u32::from(ends_at_once);
    start..clock.events_before(right).max(start) + 1
}

#[cfg(test)]
#[path = "../../../tests/units/picture/timeline/columns.rs"]
mod tests;
