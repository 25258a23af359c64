//! The user's tools as shapes over the picture: cursor, range, markers, ruler and the GPU capacity line. The
//! crosshair is not part of them.

use super::Figure;
use super::around::Pen;
use super::sizes::{FLAG, FONT, HALF};
use crate::effect::Pointer;
use crate::overlay::{Flag, Overlay};
use picture::shapes::{Anchor, Face, Shape, Text, Tint, width};

/// In CSS pixels: height of a chip, padding of its text, size of a marker's dot, distance between the ruler's end and
/// its text, size of the cursor's handle.
const CHIP: f64 = 18.0;
const PAD: f64 = 5.0;
const DOT: f64 = 5.0;
const BESIDE: f64 = 8.0;
const HANDLE: f64 = 6.0;

impl Figure {
    /// Adds an overlay that was laid out at screen size. This figure is `times` as large.
    pub fn with_tools(mut self, overlay: Overlay, times: f64) -> Figure {
        let larger = |at: Pointer| Pointer { x: at.x * times, y: at.y * times };
        self.tools = Overlay {
            names_ends: false,
            crosshair: None,
            column: None,
            rubber: None,
            pin: overlay.pin.map(|(x, text)| (x * times, text)),
            other_pin: None,
            slice: None,
            range: overlay.range.map(|ends| ends.map(|x| x * times)),
            ruler: overlay.ruler.map(|(ends, text)| (ends.map(larger), text)),
            flags: overlay.flags.into_iter().map(|flag| Flag { at: larger(flag.at), ..flag }).collect(),
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
        if let Some((x, text)) = &tools.pin {
            self.pin(*x, text);
        }
        tools.flags.iter().for_each(|flag| self.flag(flag));
        if let Some((ends, text)) = &tools.ruler {
            self.ruler(*ends, text);
        }
    }

    fn right(&self) -> f64 {
        self.left + self.figure.plot[0]
    }

    fn capacity(&mut self, y: f64, text: &str) {
        let (scale, hair, y) = (self.scale, self.hair(), (self.bottom - y).round());
        let x = [self.left, self.right()];
        let (tint, opacity) = (Tint::Strong, 0.75);
        self.shapes.push(Shape::Dashes { x, y: [y, y + hair], dash: 6.0 * scale, tint, opacity });
        // If the line is near the top, the label goes below it.
        let base = if y - self.top > 18.0 * scale { y - 5.0 * scale } else { y + 14.0 * scale };
        self.text(text.to_owned(), [x[1] - BESIDE * scale, base], Anchor::End, Tint::Strong, Face::Rimmed);
    }

    /// Draws a filled label with its upper left corner at the given point. Returns its width.
    fn chip(&mut self, text: &str, [x, y]: [f64; 2]) -> f64 {
        let (size, pad, height) = (FONT * self.scale, PAD * self.scale, CHIP * self.scale);
        let wide = width(text, size) + 2.0 * pad;
        let (x, y) = (x.round(), y.round());
        self.bar([x, x + wide], [y, y + height], Tint::Accent, 1.0);
        let at = [x + wide / 2.0, y + height / 2.0 + size * HALF];
        let (tint, face, anchor) = (Tint::Ground, Face::Plain, Anchor::Middle);
        self.shapes.push(Shape::Text(Text { text: text.to_owned(), at, anchor, size, tint, face }));
        wide
    }

    /// Draws the visible part of the range, and its edges.
    fn range(&mut self, ends: [f64; 2]) {
        let (hair, y) = (self.hair(), [self.top, self.bottom]);
        let [from, to] = ends.map(|x| x.clamp(0.0, self.figure.plot[0]));
        let left = self.left + from.floor();
        self.bar([left, left + (to - from).round().max(hair)], y, Tint::Accent, 0.14);
        for x in ends.into_iter().filter(|x| (0.0..=self.figure.plot[0]).contains(x)) {
            let x = self.left + x.floor();
            self.bar([x, x + hair], y, Tint::Accent, 1.0);
        }
    }

    /// Draws the cursor: a line, a handle at its foot and the event.
    fn pin(&mut self, x: f64, text: &str) {
        let (x, hair, y) = (self.left + x.floor(), self.hair(), [self.top, self.bottom]);
        // On both sides of its column, as on the page.
        for x in [x - hair, x + hair] {
            self.bar([x, x + hair], y, Tint::Accent, 1.0);
        }
        let (foot, side) = (self.bottom, HANDLE * self.scale);
        let corners = [[x + hair / 2.0, foot], [x + side, foot + side], [x - side, foot + side]];
        self.shapes.push(Shape::Triangle { corners, tint: Tint::Accent });
        let wide = width(text, FONT * self.scale) + 2.0 * PAD * self.scale;
        let left = (x - wide / 2.0).clamp(self.left, (self.right() - wide).max(self.left));
        self.chip(text, [left, self.top]);
    }

    /// Draws a marker: a line over the whole height with a number at the top, and a dot at the marked point.
    fn flag(&mut self, flag: &Flag) {
        let (size, pad) = (FONT * self.scale, PAD * self.scale);
        let (x, y, half) = (self.left + flag.at.x, self.bottom - flag.at.y, DOT * self.scale / 2.0);
        self.bar([x.floor(), x.floor() + self.hair()], [self.top, self.bottom], Tint::Accent, 0.9);
        if (self.top..=self.bottom).contains(&y) {
            self.bar([x - half, x + half].map(f64::round), [y - half, y + half].map(f64::round), Tint::Accent, 1.0);
        }
        let wide = width(&flag.number, size) + 2.0 * pad;
        let goes_left = x + wide > self.right();
        let top = self.top + FLAG * self.scale;
        self.chip(&flag.number, [if goes_left { x - wide } else { x }, top]);
        let base = top + CHIP * self.scale / 2.0 + size * HALF;
        let is_tight = x + wide + width(&flag.text, size) + 2.0 * pad > self.right();
        let (x, anchor) = match is_tight {
            true => (x - if goes_left { wide } else { 0.0 } - pad, Anchor::End),
            false => (x + wide + pad, Anchor::Start),
        };
        self.text(flag.text.clone(), [x, base], anchor, Tint::Accent, Face::Rimmed);
    }

    /// Draws the visible part of the box between both ends of the ruler, with the result beside the second end.
    fn ruler(&mut self, ends: [Pointer; 2], text: &str) {
        let [plot_width, plot_height] = self.figure.plot;
        let [[ax, ay], [bx, by]] = ends.map(|end| {
            [self.left + end.x.clamp(0.0, plot_width), self.bottom - end.y.clamp(0.0, plot_height)].map(f64::round)
        });
        let hair = self.hair();
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
        let (gap, height) = (BESIDE * self.scale, CHIP * self.scale);
        let wide = width(text, FONT * self.scale) + 2.0 * PAD * self.scale;
        let left = if bx >= ax { bx + gap } else { bx - gap - wide };
        let top = if by > ay { by + gap } else { by - gap - height };
        let left = left.clamp(self.left, (self.right() - wide).max(self.left));
        self.chip(text, [left, top.clamp(self.top, (self.bottom - height).max(self.top))]);
    }
}
