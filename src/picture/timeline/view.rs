//! The visible part of the plane, on a grid of whole device pixels.
//!
//! The plane has moments (moment `m` covers `[m, m + 1)`) or microseconds on the horizontal axis, and bytes on the
//! vertical one. A view scales it to device pixels and shows a rectangle of the scaled plane. Edges are rounded in the
//! scaled plane, not in the window, so panning moves a picture without changing it. Arithmetic is f64 and i64: 80 GiB
//! at 1/64 byte per pixel stays below 2^53.

use serde::{Deserialize, Serialize};

/// Maximum zoom out: the window covers at most this many times the whole range.
const MAX_ZOOM_OUT: f64 = 1.5;
/// Maximum zoom of the horizontal axis: 64 pixels per moment or microsecond.
const MIN_X_PER_PX: f64 = 1.0 / 64.0;
/// Maximum zoom of the byte axis: 16 pixels per byte.
const MIN_BYTES_PER_PX: f64 = 1.0 / 16.0;

/// Unit of the horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Axis {
    /// Moments: every event has the same width.
    #[default]
    Events,
    /// Microseconds of wall-clock time, as on a [`TimeAxis`](history::replay::times::TimeAxis).
    Time,
}

/// Size of the whole history, which limits zooming and panning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Width in units of the horizontal axis: moments (one more than events), or microseconds.
    pub width: u64,
    /// Maximum of the byte axis: the largest total.
    pub bytes: u64,
}

/// A window that shows part of the scaled plane. `y` counts upwards from byte 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct View {
    pub axis: Axis,
    /// Moments or microseconds per device pixel. Positive.
    pub x_per_px: f64,
    /// Bytes per device pixel. Positive.
    pub bytes_per_px: f64,
    /// Column of the scaled plane at the window's left edge. May be negative.
    pub left_px: i64,
    /// Row of the scaled plane at the window's bottom edge. May be negative.
    pub bottom_px: i64,
    /// Width in device pixels.
    pub width_px: u32,
    /// Height in device pixels.
    pub height_px: u32,
}

impl View {
    /// Returns the position of a column's left edge, in units of the axis.
    pub fn x_from_column(&self, column: f64) -> f64 {
        (self.left_px as f64 + column) * self.x_per_px
    }

    /// Returns the fractional column of a position in units of the axis.
    pub fn column_from_x(&self, x: f64) -> f64 {
        x / self.x_per_px - self.left_px as f64
    }

    /// Returns the bytes at `row` pixels above the window's bottom edge.
    pub fn bytes_from_row(&self, row: f64) -> f64 {
        (self.bottom_px as f64 + row) * self.bytes_per_px
    }

    /// Returns the row of `bytes` above the window's bottom edge, rounded in the scaled plane.
    pub fn row_from_bytes(&self, bytes: u64) -> i64 {
        // Adding a half and truncating rounds ten times faster. It runs millions of times per scene.
        ((bytes as f64 / self.bytes_per_px + 0.5) as i64).saturating_sub(self.bottom_px)
    }

    /// Returns the view with its content moved to the right and upwards by whole pixels.
    pub fn panned(&self, right_px: i64, up_px: i64) -> View {
        let (left_px, bottom_px) = (self.left_px.saturating_sub(right_px), self.bottom_px.saturating_sub(up_px));
        View { left_px, bottom_px, ..*self }
    }

    /// Returns the view with the horizontal axis scaled by `factor` (below 1 zooms in), keeping the position at
    /// `column` in place.
    pub fn zoomed_x(&self, column: f64, factor: f64, extent: Extent) -> View {
        let widest = extent.width.max(1) as f64 * MAX_ZOOM_OUT / f64::from(self.width_px.max(1));
        let x_per_px = limited(self.x_per_px * factor, MIN_X_PER_PX, widest);
        let left_px = (self.x_from_column(column) / x_per_px - column).round() as i64;
        View { x_per_px, left_px, ..*self }
    }

    /// Returns the view with the byte axis scaled by `factor` (below 1 zooms in), keeping the byte at `row` in place.
    pub fn zoomed_bytes(&self, row: f64, factor: f64, extent: Extent) -> View {
        let highest = extent.bytes.max(1) as f64 * MAX_ZOOM_OUT / f64::from(self.height_px.max(1));
        let bytes_per_px = limited(self.bytes_per_px * factor, MIN_BYTES_PER_PX, highest);
        let bottom_px = (self.bytes_from_row(row) / bytes_per_px - row).round() as i64;
        View { bytes_per_px, bottom_px, ..*self }
    }

    /// Returns a view of the whole event axis, `moments` wide (events + 1) and `bytes` high, with 1/16 of the height
    /// free above.
    pub fn fit(moments: u64, bytes: u64, width_px: u32, height_px: u32) -> View {
        let (width, height) = (width_px.max(1), height_px.max(1));
        View {
            axis: Axis::Events,
            x_per_px: moments.max(1) as f64 / f64::from(width),
            bytes_per_px: bytes.max(1) as f64 * (17.0 / 16.0) / f64::from(height),
            left_px: 0,
            bottom_px: 0,
            width_px: width,
            height_px: height,
        }
    }
}

/// Clamps `value` to `min..=max`. If `max` is below `min`, returns `min`. Returns the upper limit if `value` is not
/// finite.
fn limited(value: f64, min: f64, max: f64) -> f64 {
    let max = max.max(min);
    if value.is_finite() { value.clamp(min, max) } else { max }
}

#[cfg(test)]
#[path = "../../../tests/units/picture/timeline/view.rs"]
mod tests;
