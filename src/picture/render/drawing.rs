//! Input of the renderers besides the scenes, and their output as bytes.

use super::flames::Flame;
use super::theme::PictureTheme;
use crate::timeline::View;

/// A rectangle above the stack, in device pixels of the window: part of an outline, a marker or a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverlayRect {
    /// Left and right edge, right exclusive. May be outside the window.
    pub x: [i32; 2],
    /// Lower and upper edge counted upwards from the window's bottom, upper exclusive. May be outside the window.
    pub y: [i32; 2],
    /// Red, green, blue and opacity, not premultiplied. No other colours of a picture are blended. Each channel is
    /// rounded to nearest. GPUs may differ from the CPU by 1 if the opacity is neither 0 nor 255.
    pub rgba: [u8; 4],
}

impl OverlayRect {
    /// Returns the four sides of a frame inside the rectangle `x` × `y`, along its edges.
    pub fn outline(x: [i32; 2], y: [i32; 2], thickness_px: i32, rgba: [u8; 4]) -> [OverlayRect; 4] {
        let ([left, right], [bottom, top]) = (x, y);
        // Sides of a rectangle thinner than two sides must not overlap, or the opacity would be applied twice.
        let side_px = thickness_px.min(right.saturating_sub(left).max(0));
        let inner_left = left.saturating_add(side_px);
        let inner_right = right.saturating_sub(side_px).max(inner_left);
        let inner_bottom = bottom.saturating_add(thickness_px).min(top.max(bottom));
        let inner_top = top.saturating_sub(thickness_px).max(inner_bottom);
        [
            OverlayRect { x, y: [bottom, inner_bottom], rgba },
            OverlayRect { x, y: [inner_top, top], rgba },
            OverlayRect { x: [left, inner_left], y: [inner_bottom, inner_top], rgba },
            OverlayRect { x: [inner_right, right], y: [inner_bottom, inner_top], rgba },
        ]
    }
}

/// A picture of previously uploaded scenes.
#[derive(Clone, Copy, Debug)]
pub struct Drawing<'a> {
    /// Width and height in device pixels.
    pub size_px: [u32; 2],
    pub background: [u8; 4],
    /// Lanes from one scene each: a single lane that covers the whole picture, or one lane per device above each other.
    pub lanes: &'a [Lane<'a>],
    /// Boxes of a flame graph, above the scenes.
    pub flame: Option<&'a Flame>,
    /// Rectangles above everything else, back to front.
    pub overlay: &'a [OverlayRect],
}

/// Horizontal strip of a picture that shows one scene.
#[derive(Clone, Copy, Debug)]
pub struct Lane<'a> {
    /// Id that the scene was uploaded with.
    pub scene: u32,
    /// Current view, as high as the lane. A scene that was built for another view is moved and scaled to this view.
    pub view: &'a View,
    pub look: &'a PictureTheme,
    /// Lowest row of the lane, counted from the picture's bottom.
    pub bottom_px: u32,
}

impl<'a> Lane<'a> {
    /// Creates a lane at the bottom of the picture that shows the scene with id 0.
    pub fn single(view: &'a View, look: &'a PictureTheme) -> Lane<'a> {
        Lane { scene: 0, view, look, bottom_px: 0 }
    }

    /// Returns a view of the whole picture that shows the scene at the same position as the lane.
    pub fn picture_view(&self) -> View {
        View { bottom_px: self.view.bottom_px.saturating_sub(self.bottom_px.into()), ..*self.view }
    }

    /// Returns the lane's rows in a picture of this height, counted upwards.
    pub fn rows(&self, height_px: u32) -> std::ops::Range<u32> {
        let top = self.bottom_px.saturating_add(self.view.height_px).min(height_px);
        self.bottom_px.min(top)..top
    }
}

/// A finished picture, with the same memory layout as JavaScript's `ImageData`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RgbaImage {
    pub width: u32,
    pub height: u32,
    /// Four bytes per pixel (red, green, blue, opacity), rows from the top, `width × height × 4` bytes.
    pub pixels: Vec<u8>,
}

impl RgbaImage {
    /// Returns the colour of the pixel at `x` from the left and `row` from the top, or `None` outside the picture.
    pub fn pixel(&self, x: u32, row: u32) -> Option<[u8; 4]> {
        if x >= self.width {
            return None;
        }
        let start = (row as usize * self.width as usize + x as usize) * 4;
        self.pixels.get(start..start + 4)?.try_into().ok()
    }
}

#[cfg(test)]
#[path = "../../../tests/units/picture/render/drawing.rs"]
mod tests;
