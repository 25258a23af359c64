//! CPU renderer. Its pictures are identical to the GPU renderer's, pixel by pixel.

use super::drawing::{Drawing, OverlayRect, RgbaImage};
use super::flames::{Flame, Tile};
use super::layers::{self, FILLS, Frame, Layers, PlacedRect};
use super::placement::Placement;
use crate::timeline::{Quad, Scene};
use std::ops::Range;

/// CPU renderer with uploaded scenes. It is used where WebGPU is not available, and as the reference in tests of the
/// GPU renderer.
#[derive(Clone, Debug, Default)]
pub struct CpuRenderer {
    /// Uploaded scenes with their ids.
    scenes: Vec<(u32, Layers)>,
}

impl CpuRenderer {
    /// Creates a renderer without scenes.
    pub fn new() -> CpuRenderer {
        CpuRenderer::default()
    }

    /// Uploads a scene with the id `number`. Replaces any earlier scene with this id.
    pub fn upload(&mut self, number: u32, scene: &Scene) {
        self.keep_scenes(&|other| other != number);
        self.scenes.push((number, Layers::new(scene)));
    }

    /// Drops all scenes except those whose id satisfies `wanted`.
    pub fn keep_scenes(&mut self, wanted: &dyn Fn(u32) -> bool) {
        self.scenes.retain(|&(number, _)| wanted(number));
    }

    /// Renders a picture. Lanes whose scene was not uploaded stay empty.
    pub fn draw(&self, drawing: &Drawing) -> RgbaImage {
        let [width_px, height_px] = drawing.size_px;
        let mut canvas = Canvas::new(width_px, height_px, drawing.background);
        for lane in drawing.lanes {
            let Some((_, layers)) = self.scenes.iter().find(|(number, _)| *number == lane.scene) else { continue };
            let view = lane.picture_view();
            let placement = Placement::new(&layers.view, &view);
            let colours = layers::colours(lane.look);
            let frame = Frame::new(drawing.size_px, [placement.width_px(), placement.height_px()], &view);
            let rows = lane.rows(height_px);
            canvas.rows = rows.start as usize..rows.end as usize;
            for quad in &layers.quads {
                canvas.paint(&PlacedRect::new(quad, &placement), &colours, &frame);
            }
        }
        canvas.rows = 0..canvas.height;
        if let Some(Flame { tiles, colours }) = drawing.flame {
            tiles.iter().for_each(|tile| canvas.tile(tile, colours));
        }
        for quad in layers::overlay_quads(drawing.overlay) {
            canvas.blend(&quad);
        }
        canvas.into_image()
    }
}

/// Rectangles of the Segments view. They are drawn in this order: `below`, `blocks`, `above`. Each list is drawn back
/// to front.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// Width and height in device pixels.
    pub size_px: [u32; 2],
    pub background: [u8; 4],
    pub below: Vec<OverlayRect>,
    pub blocks: Vec<PlacedRect>,
    /// Colour table, see [`layers::colours`].
    pub colours: Vec<[u8; 4]>,
    pub above: Vec<OverlayRect>,
}

/// Renders the Segments view, always on the CPU. There are few bars, so a picture takes a millisecond or two.
pub fn draw_bars(bars: &Bars) -> RgbaImage {
    let [width_px, height_px] = bars.size_px;
    let mut canvas = Canvas::new(width_px, height_px, bars.background);
    let frame = Frame { window_px: bars.size_px, scene_px: bars.size_px, stripe_px: [0, 0] };
    layers::overlay_quads(&bars.below).for_each(|quad| canvas.blend(&quad));
    bars.blocks.iter().for_each(|block| canvas.paint(block, &bars.colours, &frame));
    layers::overlay_quads(&bars.above).for_each(|quad| canvas.blend(&quad));
    canvas.into_image()
}

struct Canvas {
    width: usize,
    height: usize,
    /// Rows that may be painted, counted from the bottom.
    rows: Range<usize>,
    /// Pixels row by row, from the top.
    pixels: Vec<[u8; 4]>,
}

impl Canvas {
    fn new(width_px: u32, height_px: u32, background: [u8; 4]) -> Canvas {
        let (width, height) = (width_px as usize, height_px as usize);
        Canvas { width, height, rows: 0..height, pixels: vec![background; width * height] }
    }

    fn paint(&mut self, placed: &PlacedRect, colours: &[[u8; 4]], frame: &Frame) {
        let fill_and_line = (colours.get(placed.colour as usize), colours.get((placed.colour + FILLS) as usize));
        let (Some(&fill), Some(&line)) = fill_and_line else { return };
        let top = self.height as i64 - i64::from(placed.y[1]);
        let left_is_visible = placed.left_line && placed.x[0] >= 0;
        if placed.striped {
            return self.paint_striped(placed, [fill, line], frame);
        }
        self.for_each_span(placed.x, placed.y, |row, span| {
            if placed.top_line && row == top {
                span.fill(line);
            } else {
                span.fill(fill);
                if let (true, Some(first)) = (left_is_visible, span.first_mut()) {
                    *first = line;
                }
            }
        });
    }

    /// Same as [`Canvas::paint`], but does not paint the stripes, so that the background shows through.
    fn paint_striped(&mut self, placed: &PlacedRect, [fill, line]: [[u8; 4]; 2], frame: &Frame) {
        let (height, first) = (self.height as i64, placed.x[0].max(0) as u32);
        let top = height - i64::from(placed.y[1]);
        self.for_each_span(placed.x, placed.y, |row, span| {
            for (column, pixel) in (first..).zip(span) {
                let is_line = (placed.top_line && row == top) || (placed.left_line && column as i32 == placed.x[0]);
                if is_line || !frame.is_striped(column, (height - 1 - row) as u32) {
                    *pixel = if is_line { line } else { fill };
                }
            }
        });
    }

    fn tile(&mut self, tile: &Tile, colours: &[[u8; 4]]) {
        let (x, y) = (tile.x.map(i32::from), tile.y.map(i32::from));
        let (first, top) = (x[0].max(0) - x[0], self.height as i32 - y[0] - 1);
        self.for_each_span(x, y, |row, span| {
            for (column, pixel) in (first..).zip(span) {
                if let Some(&colour) = colours.get(tile.colour_at(column, top - row as i32) as usize) {
                    *pixel = colour;
                }
            }
        });
    }

    fn blend(&mut self, quad: &Quad) {
        let above = quad.paint.to_le_bytes();
        self.for_each_span(quad.x.map(i32::from), quad.y.map(i32::from), |_, span| {
            if above[3] == u8::MAX {
                span.fill(above);
            } else {
                span.iter_mut().for_each(|below| *below = blended(above, *below));
            }
        });
    }

    /// Calls `draw` for each visible row of a rectangle, with the row (counted from the top) and its pixels inside the
    /// rectangle.
    fn for_each_span(&mut self, x: [i32; 2], y: [i32; 2], mut draw: impl FnMut(i64, &mut [[u8; 4]])) {
        let columns = visible(x, self.width);
        let from_bottom = visible(y, self.height);
        let from_bottom = from_bottom.start.max(self.rows.start)..from_bottom.end.min(self.rows.end);
        if columns.is_empty() || from_bottom.is_empty() {
            return;
        }
        let rows = self.height - from_bottom.end..self.height - from_bottom.start;
        let Some(pixels) = self.pixels.get_mut(rows.start * self.width..rows.end * self.width) else { return };
        for (row, pixels) in rows.zip(pixels.chunks_exact_mut(self.width)) {
            if let Some(span) = pixels.get_mut(columns.clone()) {
                draw(row as i64, span);
            }
        }
    }

    fn into_image(self) -> RgbaImage {
        RgbaImage { width: self.width as u32, height: self.height as u32, pixels: self.pixels.into_flattened() }
    }
}

fn visible([from, to]: [i32; 2], size: usize) -> Range<usize> {
    let inside = |edge: i32| usize::try_from(edge).unwrap_or(0).min(size);
    inside(from)..inside(to)
}

/// Blends `above` over `below`, with each channel rounded to nearest. Equals GPU blending with the factors source alpha
/// and one minus source alpha.
fn blended(above: [u8; 4], below: [u8; 4]) -> [u8; 4] {
    let opacity = u32::from(above[3]);
    let mix = |above: u8, weight: u32, below: u8| {
        ((u32::from(above) * weight + u32::from(below) * (255 - opacity) + 127) / 255) as u8
    };
    [
        mix(above[0], opacity, below[0]),
        mix(above[1], opacity, below[1]),
        mix(above[2], opacity, below[2]),
        mix(above[3], 255, below[3]),
    ]
}
