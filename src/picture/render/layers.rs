//! A scene as rectangles in drawing order, and the rules for their lines: what the shader and the twin both start from.

use super::drawing::OverlayRect;
use super::look::{Look, faded_into};
use super::placement::Placement;
use crate::timeline::scene::{BAND, CONTINUED, GROUND, PENDING};
use crate::timeline::{Quad, Scene, View};

/// The colour index of the reserved curve, and of what was mapped, the first beyond the palette and its faded twin.
pub const RESERVED: u32 = GROUND;
/// The colour index of the line of allocated bytes.
pub const ALLOCATED: u32 = RESERVED + 1;
/// How many fills there are: the palette, the same faded, the reserved curve, the allocated line. As many line colours follow them.
pub const FILLS: u32 = ALLOCATED + 1;
/// What is pending has stripes at this distance, on a diagonal, in pixels…
pub const STRIPES_APART_PX: u32 = 6;
/// …and of this width, through which what lies behind is seen.
pub const STRIPE_PX: u32 = 2;
/// A block lower than this has no line at its top: it would be mostly line.
pub const LINED_HEIGHT_PX: i32 = 4;
/// A block narrower than this has no line at its left.
pub const LINED_WIDTH_PX: i32 = 3;

/// A scene ready to be drawn: the reserved curve, then the stack, then the line of allocated bytes; of addresses, what was mapped, then the
/// blocks.
#[derive(Clone, Debug)]
pub struct Layers {
    /// The window the scene was made for.
    pub view: View,
    /// All rectangles, back to front, in pixels of that window.
    pub quads: Vec<Quad>,
}

impl Layers {
    /// The layers of `scene`.
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

/// One rectangle a run of columns with the same reserved bytes, from byte 0 upwards, clipped to the scene's window.
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

/// Where the allocated bytes end below the stack's top, by a pixel or more: there their line, one pixel high.
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

/// The overlay in the stack's own format, in pixels of the window; `paint` is the colour's four bytes, red lowest.
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

/// The colour table: [`FILLS`] fills, then [`FILLS`] lines. A block's line is its fill at 3/4 of each channel; faded is
/// [`Look::kept_eighths`] of the fill in the background.
pub fn colours(look: &Look) -> Vec<[u8; 4]> {
    let faded: Vec<[u8; 4]> =
        look.palette.iter().map(|&fill| faded_into(fill, look.background, look.kept_eighths)).collect();
    let darker = |channel: u8| (u16::from(channel) * 3 / 4) as u8;
    let line = |&[red, green, blue, opacity]: &[u8; 4]| [darker(red), darker(green), darker(blue), opacity];
    let blocks = || look.palette.iter().chain(&faded);
    let fills = blocks().copied().chain([look.reserved_fill, look.allocated]);
    let lines = blocks().map(line).chain([look.reserved_edge, look.allocated]);
    fills.chain(lines).collect()
}

/// What the shader must know of a picture besides its rectangles, edges and colours. It is `Frame` of `rects.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    pub window_px: [u32; 2],
    /// Width and height of the window the scene was made for, at most [`super::placement::LARGEST_SIDE_PX`].
    pub scene_px: [u32; 2],
    /// Column and row (upwards) of the window's lower left pixel in the scaled plane, as far as stripes need them: modulo
    /// [`STRIPES_APART_PX`].
    pub stripe_px: [u32; 2],
}

impl Frame {
    /// Bytes of a frame.
    pub const SIZE: usize = 24;

    /// The frame of a window that shows `view`.
    pub fn new(window_px: [u32; 2], scene_px: [u32; 2], view: &View) -> Frame {
        let stripe = |px: i64| px.rem_euclid(i64::from(STRIPES_APART_PX)) as u32;
        Frame { window_px, scene_px, stripe_px: [stripe(view.left_px), stripe(view.bottom_px)] }
    }

    /// Whether a pixel of the window, `row` counted upwards, lies on a stripe: what is pending is not drawn there.
    pub fn is_striped(&self, column: u32, row: u32) -> bool {
        (self.stripe_px[0] + column + self.stripe_px[1] + row) % STRIPES_APART_PX < STRIPE_PX
    }

    /// The frame as the shader reads it.
    pub fn to_bytes(self) -> [u8; Frame::SIZE] {
        let mut bytes = [0; Frame::SIZE];
        let words = [self.window_px, self.scene_px, self.stripe_px];
        for (place, word) in bytes.chunks_exact_mut(4).zip(words.as_flattened()) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

/// A rectangle in pixels of the window, and where its lines are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Left and right edge, right exclusive.
    pub x: [i32; 2],
    /// Lower and upper edge upwards from the bottom, upper exclusive.
    pub y: [i32; 2],
    /// Index of its fill; its line colour is [`FILLS`] further.
    pub colour: u32,
    /// Whether its uppermost row is a line.
    pub top_line: bool,
    /// Whether its leftmost column is a line.
    pub left_line: bool,
    /// Whether it is not drawn on stripes.
    pub striped: bool,
}

impl Placed {
    /// `quad` of a scene, placed in the window. `rects.wgsl` has the same rules in the same order.
    ///
    /// A block has a line at its top and at its left where it is large enough, so that neighbours of one colour are told apart.
    /// No line stands where the scene's window has merely cut the block, nor at the left of one that goes on from there. Bands have
    /// none; the reserved curve has its top at any size.
    pub fn new(quad: &Quad, placement: &Placement) -> Placed {
        let x = quad.x.map(|edge| placement.column(edge));
        let y = quad.y.map(|edge| placement.row(edge));
        let colour = (quad.paint & 0xffff).min(ALLOCATED);
        let is_curve = colour == RESERVED;
        let is_block = colour < RESERVED && quad.paint & BAND == 0;
        let is_tall = y[1] - y[0] >= LINED_HEIGHT_PX;
        let is_wide = x[1] - x[0] >= LINED_WIDTH_PX;
        let top_is_cut = i64::from(quad.y[1]) >= i64::from(placement.height_px());
        let left_is_cut = quad.x[0] <= 0 || quad.paint & CONTINUED != 0;
        Placed {
            x,
            y,
            colour,
            top_line: !top_is_cut && (is_curve || (is_block && is_tall)),
            left_line: !left_is_cut && is_block && is_tall && is_wide,
            striped: quad.paint & PENDING != 0,
        }
    }
}
