//! The picture as SVG paths: the rectangles that the CPU renderer would paint, one path per colour.
//!
//! Sorting by colour does not change any pixel, because rectangles of the stack never overlap. Only layers have an
//! order. Allocations awaiting free are drawn through a mask of stripes.

use super::drawing::Drawing;
use super::markup::{Markup, colour};
use crate::outline::Rect;
use crate::render::PictureTheme;
use crate::render::layers::{
    ALLOCATED, FILLS, Frame, Layers, PlacedRect, RESERVED, STRIPE_PX, STRIPES_APART_PX, colours,
};
use crate::render::placement::Placement;
use std::fmt;
use std::ops::Range;

/// Index of the first path of striped fills. The paths of fills and lines precede it.
const STRIPED: u32 = 2 * FILLS;
/// Maximum number of paths.
const PATHS: u32 = STRIPED + FILLS;

/// A rectangle in pixels from the left and top of the window: x, y, width, height.
type PixelRect = [i16; 4];

/// Writes the picture at its position on the sheet.
pub(super) fn write(markup: &mut Markup<'_>, drawing: &Drawing<'_>, theme: &PictureTheme) -> fmt::Result {
    let rects = Rects::new(drawing);
    let colours = colours(theme);
    let frame = Frame::new([0; 2], [0; 2], drawing.view);
    let has_stripes = !rects.places_of(STRIPED..PATHS).is_empty();
    if has_stripes {
        mask(markup, drawing, &frame)?;
    }
    markup.start_tag("g")?;
    markup.attribute("shape-rendering", "crispEdges")?;
    markup.start_attribute("transform")?;
    markup.raw("translate(")?;
    markup.list(&drawing.sheet.origin.map(f64::from))?;
    markup.raw(")\"")?;
    markup.finish_tag()?;
    markup.raw("\n")?;
    rects.paths(markup, RESERVED..RESERVED + 1, &colours)?;
    rects.paths(markup, FILLS + RESERVED..FILLS + RESERVED + 1, &colours)?;
    if has_stripes {
        markup.start_tag("g")?;
        markup.attribute("mask", "url(#pending)")?;
        markup.finish_tag()?;
        rects.paths(markup, STRIPED..PATHS, &colours)?;
        markup.end_tag("g")?;
    }
    rects.paths(markup, 0..RESERVED, &colours)?;
    rects.paths(markup, FILLS..FILLS + RESERVED, &colours)?;
    rects.paths(markup, ALLOCATED..ALLOCATED + 1, &colours)?;
    let [width, height] = drawing.sheet.plot.map(|side| side as i32);
    let outline: Vec<PixelRect> =
        drawing.outline.iter().filter_map(|&Rect { x, y }| clipped(x, y, [width, height])).collect();
    path(markup, &outline, theme.selection)?;
    markup.end_tag("g")
}

/// Writes a mask that hides diagonal stripes of allocations awaiting free.
fn mask(markup: &mut Markup<'_>, drawing: &Drawing<'_>, frame: &Frame) -> fmt::Result {
    let side = f64::from(STRIPES_APART_PX);
    let stripe = f64::from(STRIPE_PX);
    let [width, height] = drawing.sheet.plot.map(f64::from);
    // Stripes are counted from the lower left of the plane, the pattern from the upper left of the window.
    let down = (height + f64::from(frame.stripe_px[1])) % side;
    markup.raw("<defs><pattern id=\"stripes\" patternUnits=\"userSpaceOnUse\"")?;
    markup.number("width", side)?;
    markup.number("height", side)?;
    markup.number("x", -f64::from(frame.stripe_px[0]))?;
    markup.number("y", down)?;
    markup.finish_tag()?;
    markup.start_tag("rect")?;
    markup.number("width", side)?;
    markup.number("height", side)?;
    markup.attribute("fill", "#fff")?;
    markup.finish_element()?;
    for corners in [
        &[0.0, 0.0, stripe, 0.0, side, side - stripe, side, side][..],
        &[0.0, side - stripe, stripe, side, 0.0, side][..],
    ] {
        markup.start_tag("polygon")?;
        markup.numbers("points", corners)?;
        markup.finish_element()?;
    }
    markup.raw("</pattern><mask id=\"pending\" maskUnits=\"userSpaceOnUse\" x=\"0\" y=\"0\"")?;
    markup.number("width", width)?;
    markup.number("height", height)?;
    markup.finish_tag()?;
    markup.start_tag("rect")?;
    markup.number("width", width)?;
    markup.number("height", height)?;
    markup.attribute("fill", "url(#stripes)")?;
    markup.finish_element()?;
    markup.raw("</mask></defs>\n")
}

/// Rectangles of a picture, grouped by SVG path.
struct Rects {
    places: Vec<PixelRect>,
    /// Index in `places` of each path's first rectangle, and a last entry for the end.
    starts: Vec<u32>,
}

impl Rects {
    fn new(drawing: &Drawing<'_>) -> Rects {
        let layers = Layers::new(drawing.scene);
        let placement = Placement::new(&layers.view, drawing.view);
        let size = drawing.sheet.plot.map(|side| side as i32);
        let for_each = |then: &mut dyn FnMut(u32, PixelRect)| {
            for quad in &layers.quads {
                rects_of(&PlacedRect::new(quad, &placement), size, then);
            }
        };
        // A counting sort: count first, then place each rectangle.
        let mut starts = vec![0u32; PATHS as usize + 1];
        for_each(&mut |path, _| {
            if let Some(count) = starts.get_mut(path as usize + 1) {
                *count += 1;
            }
        });
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut places = vec![[0; 4]; sum as usize];
        for_each(&mut |path, place| {
            if let Some(next) = next.get_mut(path as usize) {
                if let Some(slot) = places.get_mut(*next as usize) {
                    *slot = place;
                }
                *next += 1;
            }
        });
        Rects { places, starts }
    }

    fn places_of(&self, paths: Range<u32>) -> &[PixelRect] {
        let edge = |path: u32| self.starts.get(path as usize).copied().unwrap_or(0) as usize;
        self.places.get(edge(paths.start)..edge(paths.end)).unwrap_or_default()
    }

    fn paths(&self, markup: &mut Markup<'_>, paths: Range<u32>, colours: &[[u8; 4]]) -> fmt::Result {
        for index in paths {
            let rgba = colours.get((index % STRIPED) as usize).copied().unwrap_or_default();
            path(markup, self.places_of(index..index + 1), rgba)?;
        }
        Ok(())
    }
}

/// Calls `then` with each rectangle of a quad and the index of its path: first the fill, then the lines.
fn rects_of(placed: &PlacedRect, size: [i32; 2], then: &mut dyn FnMut(u32, PixelRect)) {
    let PlacedRect { x, y, colour, .. } = *placed;
    if let Some(place) = clipped(x, y, size) {
        then(if placed.striped { STRIPED + colour } else { colour }, place);
    }
    let lined = y[1].saturating_sub(i32::from(placed.top_line));
    if placed.top_line
        && let Some(place) = clipped(x, [lined, y[1]], size)
    {
        then(FILLS + colour, place);
    }
    if placed.left_line
        && let Some(place) = clipped([x[0], x[0].saturating_add(1)], [y[0], lined], size)
    {
        then(FILLS + colour, place);
    }
}

/// Clips a rectangle to the window and converts it to rows from the top. Returns `None` if nothing is left.
fn clipped(x: [i32; 2], y: [i32; 2], [width, height]: [i32; 2]) -> Option<PixelRect> {
    let [left, right] = x.map(|x| x.clamp(0, width));
    let [low, high] = y.map(|y| y.clamp(0, height));
    let place = [left, height - high, right - left, high - low];
    (right > left && high > low).then(|| place.map(|px| px.min(i32::from(i16::MAX)) as i16))
}

/// Writes a path of rectangles. Adjacent rectangles are merged. Coordinates are relative to the previous rectangle,
/// which keeps the numbers short.
fn path(markup: &mut Markup<'_>, places: &[PixelRect], rgba: [u8; 4]) -> fmt::Result {
    let Some((first, rest)) = places.split_first() else { return Ok(()) };
    markup.start_tag("path")?;
    markup.attribute("fill", &colour(rgba))?;
    markup.start_attribute("d")?;
    let mut pen = [0; 2];
    let mut last = *first;
    for &place in rest {
        if let Some(joined) = joined(last, place) {
            last = joined;
        } else {
            rectangle(markup, last, &mut pen)?;
            last = place;
        }
    }
    rectangle(markup, last, &mut pen)?;
    markup.raw("\"")?;
    markup.finish_element()
}

/// Merges two rectangles that share a whole side. Returns `None` if they do not.
fn joined(first: PixelRect, second: PixelRect) -> Option<PixelRect> {
    let [x, y, width, height] = first;
    let [other_x, other_y, other_width, other_height] = second;
    if x == other_x && width == other_width && (y + height == other_y || other_y + other_height == y) {
        return Some([x, y.min(other_y), width, height + other_height]);
    }
    (y == other_y && height == other_height && x + width == other_x).then_some([x, y, width + other_width, height])
}

fn rectangle(markup: &mut Markup<'_>, place: PixelRect, pen: &mut [i64; 2]) -> fmt::Result {
    let [x, y, width, height] = place.map(i64::from);
    let [right, down] = [x - pen[0], y - pen[1]];
    *pen = [x, y];
    markup.raw("m")?;
    markup.integer(right)?;
    if down >= 0 {
        markup.raw(" ")?;
    }
    markup.integer(down)?;
    markup.raw("h")?;
    markup.integer(width)?;
    markup.raw("v")?;
    markup.integer(height)?;
    markup.raw("h-")?;
    markup.integer(width)?;
    markup.raw("z")
}
