//! What one picture is made of besides its scene, and the picture as bytes.

use super::flames::Flame;
use super::look::Look;
use crate::timeline::View;

/// A rectangle above the stack, in device pixels of the window: an outline's side, a marker, a cursor line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverlayRect {
    /// Left and right edge, right exclusive; may lie outside the window.
    pub x: [i32; 2],
    /// Lower and upper edge counted upwards from the window's bottom, upper exclusive; may lie outside the window.
    pub y: [i32; 2],
    /// Red, green, blue and opacity, not premultiplied. The only colour that is blended, each channel rounded to nearest; GPUs
    /// may differ from the twin by 1 where the opacity is neither 0 nor 255.
    pub rgba: [u8; 4],
}

impl OverlayRect {
    /// The four sides, each `thickness_px` wide, of a frame that lies inside the rectangle `x` × `y`.
    pub fn outline(x: [i32; 2], y: [i32; 2], thickness_px: i32, rgba: [u8; 4]) -> [OverlayRect; 4] {
        let ([left, right], [bottom, top]) = (x, y);
        // Sides of a rectangle thinner than two sides must not cross, or an opacity would be applied twice.
        let across = thickness_px.min(right.saturating_sub(left).max(0));
        let inner_left = left.saturating_add(across);
        let inner_right = right.saturating_sub(across).max(inner_left);
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

/// What one picture shows of the scenes uploaded before.
#[derive(Clone, Copy, Debug)]
pub struct Drawing<'a> {
    /// Width and height in device pixels.
    pub size_px: [u32; 2],
    pub background: [u8; 4],
    /// The scenes, each in rows of its own: one that covers the picture, or one a device above each other.
    pub lanes: &'a [Lane<'a>],
    /// The boxes of a flame graph, above the scenes.
    pub flame: Option<&'a Flame>,
    /// What lies above all of that, back to front.
    pub overlay: &'a [OverlayRect],
}

/// A scene in a picture, clipped to its rows.
#[derive(Clone, Copy, Debug)]
pub struct Lane<'a> {
    /// Which of the uploaded scenes: its number.
    pub scene: u32,
    /// The window as it is now, as high as the lane; the scene is moved and scaled from its own view to this one.
    pub view: &'a View,
    pub look: &'a Look,
    /// The picture's row, counted upwards, at which the lane's window begins.
    pub bottom_px: u32,
}

impl<'a> Lane<'a> {
    /// Scene 0 from the picture's bottom on.
    pub fn alone(view: &'a View, look: &'a Look) -> Lane<'a> {
        Lane { scene: 0, view, look, bottom_px: 0 }
    }

    /// The picture's window, in which the scene lies as it does in the lane's.
    pub fn lowered(&self) -> View {
        View { bottom_px: self.view.bottom_px.saturating_sub(self.bottom_px.into()), ..*self.view }
    }

    /// The lane's rows among the `height_px` of the picture, counted upwards.
    pub fn rows(&self, height_px: u32) -> std::ops::Range<u32> {
        let top = self.bottom_px.saturating_add(self.view.height_px).min(height_px);
        self.bottom_px.min(top)..top
    }
}

/// A finished picture, laid out as `ImageData` wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RgbaImage {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Four bytes a pixel (red, green, blue, opacity), rows from the top, no padding: `width × height × 4` bytes.
    pub pixels: Vec<u8>,
}

impl RgbaImage {
    /// The pixel at `x` from the left and `row` from the top, if there is one.
    pub fn pixel(&self, x: u32, row: u32) -> Option<[u8; 4]> {
        if x >= self.width {
            return None;
        }
        let at = (row as usize * self.width as usize + x as usize) * 4;
        self.pixels.get(at..at + 4)?.try_into().ok()
    }
}

#[cfg(test)]
#[path = "../../../tests/units/picture/render/drawing.rs"]
mod tests;
