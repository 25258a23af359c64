//! Where each pixel edge of a scene lies in the window: a table for each axis.
//!
//! A scene was made for one view; until the exact one arrives it is shown in another, moved and scaled. Its edges are whole pixels,
//! a few thousand different ones, so the map is computed once an edge, here, in f64, and both GPU and twin look it up: no
//! rounding is left to a shader.

use crate::timeline::View;

/// The largest width and height of a scene in pixels: a quad's edges are `i16`.
pub const LARGEST_SIDE_PX: u32 = i16::MAX as u32;

/// Where a scene's edges lie in a window. Immutable; made anew for each picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    edges: Vec<i32>,
    width_px: u32,
    height_px: u32,
}

impl Placement {
    /// The edges of a scene made for `scene`, shown in `shown`. Where both have the same scale this is a whole-pixel shift.
    pub fn new(scene: &View, shown: &View) -> Placement {
        let width_px = scene.width_px.min(LARGEST_SIDE_PX);
        let height_px = scene.height_px.min(LARGEST_SIDE_PX);
        let columns = scaled_edges(width_px, scene.left_px, shown.left_px, scene.x_per_px / shown.x_per_px);
        let rows = scaled_edges(height_px, scene.bottom_px, shown.bottom_px, scene.bytes_per_px / shown.bytes_per_px);
        Placement { edges: columns.chain(rows).collect(), width_px, height_px }
    }

    /// Columns the scene has.
    pub fn width_px(&self) -> u32 {
        self.width_px
    }

    /// Rows the scene has.
    pub fn height_px(&self) -> u32 {
        self.height_px
    }

    /// The table as the shader reads it: `width_px + 1` columns, then `height_px + 1` rows, all in window pixels.
    pub fn edges(&self) -> &[i32] {
        &self.edges
    }

    /// The window's column at the scene's column edge `x`.
    pub fn column(&self, x: i16) -> i32 {
        self.edge(clamped(x, self.width_px))
    }

    /// The window's row (upwards) at the scene's row edge `y`.
    pub fn row(&self, y: i16) -> i32 {
        self.edge(self.width_px as usize + 1 + clamped(y, self.height_px))
    }

    fn edge(&self, at: usize) -> i32 {
        self.edges.get(at).copied().unwrap_or(0)
    }
}

fn clamped(edge: i16, last: u32) -> usize {
    // `last` is at most i16::MAX.
    edge.clamp(0, last as i16) as usize
}

/// Edges are rounded in the scaled plane, before the window's position is subtracted: panning moves the picture, it never
/// changes it. What lies far outside the window stays outside when it is clamped, and every sum of two stays an i32.
fn scaled_edges(size_px: u32, scene_px: i64, shown_px: i64, scale: f64) -> impl Iterator<Item = i32> {
    (0..=i64::from(size_px)).map(move |edge| {
        let in_plane = (scene_px.saturating_add(edge) as f64 * scale).round() as i64;
        in_plane.saturating_sub(shown_px).clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i32
    })
}

#[cfg(test)]
#[path = "../../../tests/units/picture/render/placement.rs"]
mod tests;
