//! The part of the plane that is looked at, on a grid of whole device pixels.
//!
//! The plane is horizontally in moments (moment `m` covers `[m, m + 1)`), vertically in bytes. A view scales it to device
//! pixels and shows a rectangle of whole pixels of the scaled plane. Edges are rounded in the scaled plane, not in the window, so
//! panning moves a picture and never changes it. All arithmetic is f64/i64: 80 GiB at 1/64 byte a pixel stays below 2^53.

use serde::{Deserialize, Serialize};

/// A window onto the scaled plane. `y` counts upwards from byte 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Moments a device pixel covers; positive.
    pub moments_per_px: f64,
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
    /// The x of the window's column `column`'s left edge, in moments.
    pub fn moment_from_column(&self, column: f64) -> f64 {
        (self.left_px as f64 + column) * self.moments_per_px
    }

    /// The window's column (not rounded) where `moment` lies.
    pub fn column_from_moment(&self, moment: f64) -> f64 {
        moment / self.moments_per_px - self.left_px as f64
    }

    /// The bytes at `row` pixels above the window's bottom edge.
    pub fn bytes_from_row(&self, row: f64) -> f64 {
        (self.bottom_px as f64 + row) * self.bytes_per_px
    }

    /// The row above the window's bottom edge where `bytes` lies, rounded in the scaled plane.
    pub fn row_from_bytes(&self, bytes: u64) -> i64 {
        (bytes as f64 / self.bytes_per_px).round() as i64 - self.bottom_px
    }

    /// The whole range, `moments` wide (events + 1) and `bytes` high, in a window of this size, with 1/16 of the height free above.
    pub fn fit(moments: u64, bytes: u64, width_px: u32, height_px: u32) -> View {
        let (width, height) = (width_px.max(1), height_px.max(1));
        View {
            moments_per_px: moments.max(1) as f64 / f64::from(width),
            bytes_per_px: bytes.max(1) as f64 * (17.0 / 16.0) / f64::from(height),
            left_px: 0,
            bottom_px: 0,
            width_px: width,
            height_px: height,
        }
    }
}
