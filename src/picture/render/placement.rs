//! Positions of a scene's pixel edges in the window, as a table for each axis.
//!
//! A scene is built for one view. Until the next scene arrives, it is shown in another view, moved and scaled. A scene
//! has a few thousand distinct edges. Each edge is mapped once in f64, and both GPU and CPU look it up, so shaders do
//! no rounding.

use crate::timeline::View;

/// Maximum width and height of a scene in pixels. Edges of quads are stored as `i16`.
pub const MAX_SIDE_PX: u32 = i16::MAX as u32;

/// Positions of a scene's edges in a window. A new table is created for each picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    edges: Vec<i32>,
    width_px: u32,
    height_px: u32,
}

impl Placement {
    /// Creates the table for a scene that was built for the view `scene` and is shown in the view `shown`. If both
    /// views have the same scale, the edges are shifted by whole pixels.
    pub fn new(scene: &View, shown: &View) -> Placement {
        let width_px = scene.width_px.min(MAX_SIDE_PX);
        let height_px = scene.height_px.min(MAX_SIDE_PX);
        let columns = scaled_edges(width_px, scene.left_px, shown.left_px, scene.x_per_px / shown.x_per_px);
        let rows = scaled_edges(height_px, scene.bottom_px, shown.bottom_px, scene.bytes_per_px / shown.bytes_per_px);
        Placement { edges: columns.chain(rows).collect(), width_px, height_px }
    }

    /// Returns the scene's number of columns.
    pub fn width_px(&self) -> u32 {
        self.width_px
    }

    /// Returns the scene's number of rows.
    pub fn height_px(&self) -> u32 {
        self.height_px
    }

    /// Returns the table that the shader reads: `width_px + 1` columns, then `height_px + 1` rows, in window pixels.
    pub fn edges(&self) -> &[i32] {
        &self.edges
    }

    /// Maps the scene's column edge `x` to a column of the window.
    pub fn column(&self, x: i16) -> i32 {
        self.edge(clamped(x, self.width_px))
    }

    /// Maps the scene's row edge `y` to a row of the window, counted upwards.
    pub fn row(&self, y: i16) -> i32 {
        self.edge(self.width_px as usize + 1 + clamped(y, self.height_px))
    }

    fn edge(&self, index: usize) -> i32 {
        self.edges.get(index).copied().unwrap_or(0)
    }
}

fn clamped(edge: i16, last: u32) -> usize {
    // `last` is at most i16::MAX.
    edge.clamp(0, last as i16) as usize
}

/// Maps the edges of one axis. Edges are rounded in the scaled plane before the window's position is subtracted, so
/// panning does not change the picture. Results are clamped to the range of `i16`, which is larger than any window.
fn scaled_edges(size_px: u32, scene_px: i64, shown_px: i64, scale: f64) -> impl Iterator<Item = i32> {
    (0..=i64::from(size_px)).map(move |edge| {
        let in_plane = (scene_px.saturating_add(edge) as f64 * scale).round() as i64;
        in_plane.saturating_sub(shown_px).clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i32
    })
}

#[cfg(test)]
#[path = "../../../tests/units/picture/render/placement.rs"]
mod tests;
