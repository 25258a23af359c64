//! Conversion of a scene to rectangles in drawing order, and rules for lines at their edges. Shared by the shader and
//! the CPU renderer.

use super::drawing::OverlayRect;
use super::placement::Placement;
use super::theme::{PictureTheme, faded_into};
use crate::timeline::scene::{BAND, CONTINUED, GROUND, PENDING};
use crate::timeline::{Quad, Scene, View};

/// Colour index of the reserved curve and of mapped memory. First index after the palette and the faded palette.
pub const RESERVED: u32 = GROUND;
/// Colour index of the line of allocated bytes.
pub const ALLOCATED: u32 = RESERVED + 1;
/// Number of fill colours: palette, faded palette, reserved curve, allocated line. Followed by equally many line
/// colours.
pub const FILLS: u32 = ALLOCATED + 1;
/// Distance in pixels, along a row or column, between the stripes of allocations awaiting free.
pub const STRIPES_APART_PX: u32 = 6;
/// Width of a stripe in pixels, along a row or column. The background of the allocation is visible in the stripe.
pub const STRIPE_PX: u32 = 2;
/// Minimum height of a block that has a line at its top, in pixels.
pub const LINED_HEIGHT_PX: i32 = 4;
/// Minimum width of a block that has a line at its left, in pixels.
pub const LINED_WIDTH_PX: i32 = 3;

/// Rectangles of a scene in drawing order. For a stack: the reserved curve, the stack, then the line of allocated
/// bytes. For addresses: mapped memory, then blocks.
#[derive(Clone, Debug)]
pub struct Layers {
    /// View that the scene was built for.
    pub view: View,
    /// All rectangles, back to front, in pixels of the window of `view`.
    pub quads: Vec<Quad>,
}

impl Layers {
    /// Creates the layers of `scene`.
    pub fn new(scene: &Scene) -> Layers {
        let is_stack = scene.ground.is_none();
        let mut quads = if is_stack { reserved_curve(scene) } else { Vec::new() };
        quads.extend_from_slice(&scene.quads);
        if is_stack {
            quads.extend(allocated_line(scene));
        }
        Layers { view: scene.view, quads }
    }
}

/// Returns the area below the reserved curve, clipped to the scene's window: one rectangle for each run of columns with
/// equal reserved bytes.
fn reserved_curve(scene: &Scene) -> Vec<Quad> {
    let row = |bytes| scene.view.row_from_bytes(bytes).clamp(0, i64::from(scene.view.height_px.min(0x7fff))) as i16;
    let bottom = row(0);
    let mut quads: Vec<Quad> = Vec::new();
    for (edges, &reserved) in scene.columns.edge_px.windows(2).zip(&scene.columns.reserved) {
        let &[left, right] = edges else { continue };
        let [left, right] = [left, right].map(clamp_to_i16);
        let top = row(reserved);
        match quads.last_mut() {
            Some(last) if last.x[1] == left && last.y[1] == top => last.x[1] = right,
            _ => quads.push(Quad { x: [left, right], y: [bottom, top], paint: RESERVED }),
        }
    }
    quads
}

/// Returns rectangles one pixel high that form the line of allocated bytes. Columns where the line is less than a pixel
/// below the stack's top have none.
fn allocated_line(scene: &Scene) -> Vec<Quad> {
    let row = |bytes| scene.view.row_from_bytes(bytes).clamp(0, i64::from(scene.view.height_px.min(0x7fff))) as i16;
    let mut quads: Vec<Quad> = Vec::new();
    let heights = scene.columns.total.iter().zip(&scene.columns.pending);
    for (edges, (&total, &pending)) in scene.columns.edge_px.windows(2).zip(heights) {
        let &[left, right] = edges else { continue };
        let [left, right] = [left, right].map(clamp_to_i16);
        let top = row(total.saturating_sub(pending));
        if top >= row(total) || top <= 0 {
            continue;
        }
        match quads.last_mut() {
            Some(last) if last.x[1] == left && last.y[1] == top => last.x[1] = right,
            _ => quads.push(Quad { x: [left, right], y: [top - 1, top], paint: ALLOCATED }),
        }
    }
    quads
}

/// Converts the overlay to quads in pixels of the window. The `paint` of each quad contains the four bytes of its
/// colour, with red in the lowest byte.
pub fn overlay_quads(overlay: &[OverlayRect]) -> impl Iterator<Item = Quad> + '_ {
    overlay.iter().map(|rect| Quad {
        x: rect.x.map(clamp_to_i16),
        y: rect.y.map(clamp_to_i16),
        paint: u32::from_le_bytes(rect.rgba),
    })
}

fn clamp_to_i16(px: i32) -> i16 {
    px.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16
}

/// Returns the colour table: [`FILLS`] fills, then [`FILLS`] lines. A block's line has 3/4 of each channel of its fill.
/// A faded fill keeps [`PictureTheme::kept_eighths`] of the colour.
pub fn colours(theme: &PictureTheme) -> Vec<[u8; 4]> {
    let faded: Vec<[u8; 4]> =
        theme.palette.iter().map(|&fill| faded_into(fill, theme.background, theme.kept_eighths)).collect();
    let darker = |channel: u8| (u16::from(channel) * 3 / 4) as u8;
    let line = |&[red, green, blue, opacity]: &[u8; 4]| [darker(red), darker(green), darker(blue), opacity];
    let blocks = || theme.palette.iter().chain(&faded);
    let fills = blocks().copied().chain([theme.reserved_fill, theme.allocated]);
    let lines = blocks().map(line).chain([theme.reserved_edge, theme.allocated]);
    fills.chain(lines).collect()
}

/// Uniforms of the shader. Same layout as `Frame` in `rects.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    pub window_px: [u32; 2],
    /// Width and height of the scene's window, at most [`super::placement::MAX_SIDE_PX`].
    pub scene_px: [u32; 2],
    /// Column and row (counted upwards) of the window's lower left pixel in the scaled plane, modulo
    /// [`STRIPES_APART_PX`].
    pub stripe_px: [u32; 2],
}

impl Frame {
    /// Size in bytes.
    pub const SIZE: usize = 24;

    /// Creates the uniforms of a window that shows `view`.
    pub fn new(window_px: [u32; 2], scene_px: [u32; 2], view: &View) -> Frame {
        let stripe = |px: i64| px.rem_euclid(i64::from(STRIPES_APART_PX)) as u32;
        Frame { window_px, scene_px, stripe_px: [stripe(view.left_px), stripe(view.bottom_px)] }
    }

    /// Returns true if a pixel is on a stripe, where allocations awaiting free are not drawn. `row` counts upwards.
    pub fn is_striped(&self, column: u32, row: u32) -> bool {
        (self.stripe_px[0] + column + self.stripe_px[1] + row) % STRIPES_APART_PX < STRIPE_PX
    }

    /// Converts the uniforms to the bytes that the shader reads.
    pub fn to_bytes(self) -> [u8; Frame::SIZE] {
        let mut bytes = [0; Frame::SIZE];
        let words = [self.window_px, self.scene_px, self.stripe_px];
        for (place, word) in bytes.chunks_exact_mut(4).zip(words.as_flattened()) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

/// A rectangle in pixels of the window, and the edges where it has lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedRect {
    /// Left and right edge, right exclusive.
    pub x: [i32; 2],
    /// Lower and upper edge counted upwards from the window's bottom, upper exclusive.
    pub y: [i32; 2],
    /// Index of the fill. The line's index is [`FILLS`] higher.
    pub colour: u32,
    /// True if the topmost row is a line.
    pub top_line: bool,
    /// True if the leftmost column is a line.
    pub left_line: bool,
    /// True if the rectangle has transparent stripes.
    pub striped: bool,
}

impl PlacedRect {
    /// Maps a quad of a scene to the window and chooses its lines. `rects.wgsl` has the same rules in the same order.
    ///
    /// A block that is large enough has a line at its top and left, so that adjacent blocks of one colour can be
    /// distinguished. Edges cut by the scene's window and left edges of continued blocks have no line. Bands have no
    /// lines. The reserved curve always has one at its top.
    pub fn new(quad: &Quad, placement: &Placement) -> PlacedRect {
        let x = quad.x.map(|edge| placement.column(edge));
        let y = quad.y.map(|edge| placement.row(edge));
        let colour = (quad.paint & 0xffff).min(ALLOCATED);
        let is_curve = colour == RESERVED;
        let is_block = colour < RESERVED && quad.paint & BAND == 0;
        let is_tall = y[1] - y[0] >= LINED_HEIGHT_PX;
        let is_wide = x[1] - x[0] >= LINED_WIDTH_PX;
        let top_is_cut = i64::from(quad.y[1]) >= i64::from(placement.height_px());
        let left_is_cut = quad.x[0] <= 0 || quad.paint & CONTINUED != 0;
        PlacedRect {
            x,
            y,
            colour,
            top_line: !top_is_cut && (is_curve || (is_block && is_tall)),
            left_line: !left_is_cut && is_block && is_tall && is_wide,
            striped: quad.paint & PENDING != 0,
        }
    }
}
