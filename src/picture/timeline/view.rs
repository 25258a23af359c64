//! The part of the plane that is looked at, on a grid of whole device pixels.
//!
//! The plane is horizontally in moments (moment `m` covers `[m, m + 1)`) or in microseconds, vertically in bytes. A view scales it
//! to device pixels and shows a rectangle of whole pixels of the scaled plane. Edges are rounded in the scaled plane, not in the window, so
//! panning moves a picture and never changes it. All arithmetic is f64/i64: 80 GiB at 1/64 byte a pixel stays below 2^53.

use serde::{Deserialize, Serialize};

/// Farthest zoom: the window covers this many times the whole range.
const FARTHEST: f64 = 1.5;
/// Closest zoom of the horizontal axis: a moment, or a microsecond, of 64 pixels.
const CLOSEST_X_PER_PX: f64 = 1.0 / 64.0;
/// Closest zoom in bytes: a byte of 16 pixels.
const CLOSEST_BYTES_PER_PX: f64 = 1.0 / 16.0;

/// What the horizontal axis counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Axis {
    /// Moments: every event has the same width.
    #[default]
    Events,
    /// Microseconds of wall-clock, as `Clock` counts them: pauses are as wide as they were long.
    Time,
}

/// All there is to look at: what zooming and panning are limited to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// In units of the horizontal axis: moments (one more than events), or microseconds.
    pub width: u64,
    /// The highest total, in bytes.
    pub bytes: u64,
}

/// A window onto the scaled plane. `y` counts upwards from byte 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct View {
    pub axis: Axis,
    /// Units of the axis (moments, or microseconds) that a device pixel covers; positive.
    pub x_per_px: f64,
    /// Bytes a device pixel covers; positive.
    pub bytes_per_px: f64,
    /// The scaled plane's pixel column at the window's left edge (may be negative).
    pub left_px: i64,
    /// The scaled plane's pixel row at the window's bottom edge (may be negative).
    pub bottom_px: i64,
    /// Width in device pixels.
    pub width_px: u32,
    /// Height in device pixels.
    pub height_px: u32,
}

impl View {
    /// The x of the window's column `column`'s left edge, in units of the axis.
    pub fn x_from_column(&self, column: f64) -> f64 {
        (self.left_px as f64 + column) * self.x_per_px
    }

    /// The window's column (not rounded) where `x`, in units of the axis, lies.
    pub fn column_from_x(&self, x: f64) -> f64 {
        x / self.x_per_px - self.left_px as f64
    }

    /// The bytes at `row` pixels above the window's bottom edge.
    pub fn bytes_from_row(&self, row: f64) -> f64 {
        (self.bottom_px as f64 + row) * self.bytes_per_px
    }

    /// The row above the window's bottom edge where `bytes` lies, rounded in the scaled plane.
    pub fn row_from_bytes(&self, bytes: u64) -> i64 {
        // Half a pixel more and cut is rounding, and a tenth of its cost: the geometry does this millions of times.
        ((bytes as f64 / self.bytes_per_px + 0.5) as i64).saturating_sub(self.bottom_px)
    }

    /// The picture moved by whole pixels: to the right and upwards.
    pub fn panned(&self, right_px: i64, up_px: i64) -> View {
        let (left_px, bottom_px) = (self.left_px.saturating_sub(right_px), self.bottom_px.saturating_sub(up_px));
        View { left_px, bottom_px, ..*self }
    }

    /// The horizontal axis scaled by `factor` (below 1 is closer), what is at the window's column `about` staying where it is.
    pub fn zoomed_x(&self, about: f64, factor: f64, extent: Extent) -> View {
        let widest = extent.width.max(1) as f64 * FARTHEST / f64::from(self.width_px.max(1));
        let x_per_px = limited(self.x_per_px * factor, CLOSEST_X_PER_PX, widest);
        let left_px = (self.x_from_column(about) / x_per_px - about).round() as i64;
        View { x_per_px, left_px, ..*self }
    }

    /// The byte axis scaled by `factor` (below 1 is closer), the byte at `about` rows above the window's bottom staying where it is.
    pub fn zoomed_bytes(&self, about: f64, factor: f64, extent: Extent) -> View {
        let highest = extent.bytes.max(1) as f64 * FARTHEST / f64::from(self.height_px.max(1));
        let bytes_per_px = limited(self.bytes_per_px * factor, CLOSEST_BYTES_PER_PX, highest);
        let bottom_px = (self.bytes_from_row(about) / bytes_per_px - about).round() as i64;
        View { bytes_per_px, bottom_px, ..*self }
    }

    /// The whole range of the event axis, `moments` wide (events + 1) and `bytes` high, in a window of this size, with 1/16 of the
    /// height free above.
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

/// `value` between two limits, of which the far one never is nearer than the close one.
fn limited(value: f64, close: f64, far: f64) -> f64 {
    let far = far.max(close);
    if value.is_finite() { value.clamp(close, far) } else { far }
}

#[cfg(test)]
#[path = "../../../tests/units/picture/timeline/view.rs"]
mod tests;
