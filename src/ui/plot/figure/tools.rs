//! Draws the user's tools over an exported picture: cursor, range, markers, ruler and the device capacity line. The
//! crosshair is omitted.

use crate::plot::figure::Figure;
use crate::plot::figure::decorations::Pen;
use crate::plot::figure::sizes::{FONT_SIZE, MARKER_TOP, MIDDLE_TO_BASELINE};
use crate::plot::overlay::{MarkerFlag, Overlay};
use crate::state::effect::Pointer;
use picture::shapes::{Anchor, FontStyle, Shape, Text, Tint, width};

/// Height of a label with a background, in CSS pixels.
const CHIP_HEIGHT: f64 = 18.0;
/// Padding between the text and the edge of a label with a background, in CSS pixels.
const CHIP_PADDING: f64 = 5.0;
/// Width and height of a marker's dot, in CSS pixels.
const MARKER_DOT: f64 = 5.0;
/// Distance between the end of the ruler and its text, in CSS pixels.
const RULER_GAP: f64 = 8.0;
/// Size of the handle at the bottom of the cursor, in CSS pixels.
const CURSOR_HANDLE: f64 = 6.0;

impl Figure {
    /// Adds the user's tools from `overlay`, scaled from screen size by the factor `times`.
    pub fn with_tools(mut self, overlay: Overlay, times: f64) -> Figure {
        let larger = |at: Pointer| Pointer { x: at.x * times, y: at.y * times };
        self.tools = Overlay {
            labels_ends: false,
            crosshair: None,
            other_lane_pointer: None,
            zoom_box: None,
            cursor: overlay.cursor.map(|(x, text)| (x * times, text)),
            other_cursor: None,
            slice: None,
            range: overlay.range.map(|ends| ends.map(|x| x * times)),
            ruler: overlay.ruler.map(|(ends, text)| (ends.map(larger), text)),
            markers: overlay.markers.into_iter().map(|flag| MarkerFlag { at: larger(flag.at), ..flag }).collect(),
            capacity: overlay.capacity.map(|(y, text)| (y * times, text)),
        };
        self
    }
}

impl Pen<'_> {
    /// Draws the tools from back to front.
    pub(super) fn tools(&mut self) {
        let tools = &self.figure.tools;
        if let Some((y, text)) = &tools.capacity {
            self.capacity(*y, text);
        }
        if let Some(ends) = tools.range {
            self.range(ends);
        }
        if let Some((x, text)) = &tools.cursor {
            self.cursor(*x, text);
        }
        tools.markers.iter().for_each(|flag| self.marker(flag));
        if let Some((ends, text)) = &tools.ruler {
            self.ruler(*ends, text);
        }
    }

    fn right(&self) -> f64 {
        self.left + self.figure.plot_px[0]
    }

    fn capacity(&mut self, y: f64, text: &str) {
        let (scale, hair, y) = (self.scale, self.hairline(), (self.bottom - y).round());
        let x = [self.left, self.right()];
        let (tint, opacity) = (Tint::Strong, 0.75);
        self.shapes.push(Shape::Dashes { x, y: [y, y + hair], dash: 6.0 * scale, tint, opacity });
        // If the line is near the top, the label goes below it.
        let base = if y - self.top > 18.0 * scale { y - 5.0 * scale } else { y + 14.0 * scale };
        self.text(text.to_owned(), [x[1] - RULER_GAP * scale, base], Anchor::End, Tint::Strong, FontStyle::Outlined);
    }

    /// Draws a label with a background, with its upper left corner at the given point. Returns its width.
    fn chip(&mut self, text: &str, [x, y]: [f64; 2]) -> f64 {
        let (size, pad, height) = (FONT_SIZE * self.scale, CHIP_PADDING * self.scale, CHIP_HEIGHT * self.scale);
        let chip_width = width(text, size) + 2.0 * pad;
        let (x, y) = (x.round(), y.round());
        self.bar([x, x + chip_width], [y, y + height], Tint::Accent, 1.0);
        let at = [x + chip_width / 2.0, y + height / 2.0 + size * MIDDLE_TO_BASELINE];
        let (tint, style, anchor) = (Tint::Ground, FontStyle::Plain, Anchor::Middle);
        self.shapes.push(Shape::Text(Text { text: text.to_owned(), at, anchor, size, tint, style }));
        chip_width
    }

    /// Draws the visible part of the range, and the edges that are visible.
    fn range(&mut self, ends: [f64; 2]) {
        let (hair, y) = (self.hairline(), [self.top, self.bottom]);
        let [from, to] = ends.map(|x| x.clamp(0.0, self.figure.plot_px[0]));
        let left = self.left + from.floor();
        self.bar([left, left + (to - from).round().max(hair)], y, Tint::Accent, 0.14);
        for x in ends.into_iter().filter(|x| (0.0..=self.figure.plot_px[0]).contains(x)) {
            let x = self.left + x.floor();
            self.bar([x, x + hair], y, Tint::Accent, 1.0);
        }
    }

    /// Draws the cursor: two lines, a handle at the bottom, and a label at the top.
    fn cursor(&mut self, x: f64, text: &str) {
        let (x, hair, y) = (self.left + x.floor(), self.hairline(), [self.top, self.bottom]);
        // The lines are on both sides of its column, as on the page.
        for x in [x - hair, x + hair] {
            self.bar([x, x + hair], y, Tint::Accent, 1.0);
        }
        let (foot, side) = (self.bottom, CURSOR_HANDLE * self.scale);
        let corners = [[x + hair / 2.0, foot], [x + side, foot + side], [x - side, foot + side]];
        self.shapes.push(Shape::Triangle { corners, tint: Tint::Accent });
        let chip_width = width(text, FONT_SIZE * self.scale) + 2.0 * CHIP_PADDING * self.scale;
        let left = (x - chip_width / 2.0).clamp(self.left, (self.right() - chip_width).max(self.left));
        self.chip(text, [left, self.top]);
    }

    /// Draws a marker: a line over the whole height with its number at the top, and a dot at the marked point.
    fn marker(&mut self, flag: &MarkerFlag) {
        let (size, pad) = (FONT_SIZE * self.scale, CHIP_PADDING * self.scale);
        let (x, y, half) = (self.left + flag.at.x, self.bottom - flag.at.y, MARKER_DOT * self.scale / 2.0);
        self.bar([x.floor(), x.floor() + self.hairline()], [self.top, self.bottom], Tint::Accent, 0.9);
        if (self.top..=self.bottom).contains(&y) {
            self.bar([x - half, x + half].map(f64::round), [y - half, y + half].map(f64::round), Tint::Accent, 1.0);
        }
        let chip_width = width(&flag.number, size) + 2.0 * pad;
        let is_left_of_line = x + chip_width > self.right();
        let top = self.top + MARKER_TOP * self.scale;
        self.chip(&flag.number, [if is_left_of_line { x - chip_width } else { x }, top]);
        let base = top + CHIP_HEIGHT * self.scale / 2.0 + size * MIDDLE_TO_BASELINE;
        let is_tight = x + chip_width + width(&flag.text, size) + 2.0 * pad > self.right();
        let (x, anchor) = match is_tight {
            true => (x - if is_left_of_line { chip_width } else { 0.0 } - pad, Anchor::End),
            false => (x + chip_width + pad, Anchor::Start),
        };
        self.text(flag.text.clone(), [x, base], anchor, Tint::Accent, FontStyle::Outlined);
    }

    /// Draws the visible part of the box between both ends of the ruler, with the measurement beside the second end.
    fn ruler(&mut self, ends: [Pointer; 2], text: &str) {
        let [plot_width, plot_height] = self.figure.plot_px;
        let [[ax, ay], [bx, by]] = ends.map(|end| {
            [self.left + end.x.clamp(0.0, plot_width), self.bottom - end.y.clamp(0.0, plot_height)].map(f64::round)
        });
        let hair = self.hairline();
        let (x, y) = ([ax.min(bx), ax.max(bx)], [ay.min(by), ay.max(by)]);
        self.bar(x, y, Tint::Accent, 0.1);
        let outer = [x[0], x[1] + hair];
        for (x, y) in [
            (outer, [y[0], y[0] + hair]),
            (outer, [y[1], y[1] + hair]),
            ([x[0], x[0] + hair], y),
            ([x[1], x[1] + hair], y),
        ] {
            self.bar(x, y, Tint::Accent, 1.0);
        }
        // On the far side of the first end, so that the text does not cover the measured area.
        let (gap, height) = (RULER_GAP * self.scale, CHIP_HEIGHT * self.scale);
        let chip_width = width(text, FONT_SIZE * self.scale) + 2.0 * CHIP_PADDING * self.scale;
        let left = if bx >= ax { bx + gap } else { bx - gap - chip_width };
        let top = if by > ay { by + gap } else { by - gap - height };
        let left = left.clamp(self.left, (self.right() - chip_width).max(self.left));
        self.chip(text, [left, top.clamp(self.top, (self.bottom - height).max(self.top))]);
    }
}
