//! Layout of an exported picture: the figure, with title, legend and notes around it.
//!
//! ```text
//! ┌ title ──────────────────────┐
//! │ what is seen                │
//! │ 2 GiB ┌─────────────────┐   │
//! │ 1 GiB │ the picture     │   │
//! │     0 └─────────────────┘   │
//! │ legend, in columns          │
//! │ notes                       │
//! └─────────────────────────────┘
//! ```

use crate::plot::figure::Figure;
use crate::plot::figure::sizes::{FONT_SIZE, TOP_TO_BASELINE};
use crate::plot::figure::words::SheetText;
use crate::text::names::shorten;
use picture::shapes::{Anchor, FontStyle, Shape, Sheet, Text, Tint, truncated, width};
use picture::timeline::Scene;

/// Margin around the sheet, in CSS pixels.
const MARGIN: f64 = 16.0;
/// Minimum width of the vertical axis, in CSS pixels.
const GUTTER: f64 = 62.0;
/// Font size of the title, in CSS pixels.
const TITLE_SIZE: f64 = 15.0;
/// Distance between the tops of two lines of text, in CSS pixels.
const LINE_HEIGHT: f64 = 16.0;
/// Space between title, picture, legend and notes, in CSS pixels.
const GAP: f64 = 12.0;
/// Width and height of a colour sample in the legend, in CSS pixels.
const SWATCH: f64 = 10.0;
/// Minimum width of a legend column, in CSS pixels.
const MIN_COLUMN_WIDTH: f64 = 310.0;
/// Width of a line sample in the key, including the space after it, in CSS pixels.
const LINE_SAMPLE: f64 = 38.0;
/// Space between columns of the legend, in CSS pixels.
const COLUMN_GAP: f64 = 28.0;

/// Minimum width and height that axes, title, legend and notes add to the picture, in CSS pixels.
pub const MIN_FRAME: [f64; 2] = [2.0 * MARGIN + GUTTER, 130.0];

/// Lays out an exported picture: the figure with `words` around it. `scene` is the content of the figure's picture.
pub fn sheet(figure: &Figure, words: &SheetText, scene: &Scene) -> Sheet {
    let scale = figure.scale;
    let to_px = |css: f64| (css * scale).round();
    // Addresses are wider than byte counts.
    let gutter = figure.byte_ticks.iter().map(|tick| width(&tick.label, FONT_SIZE) + GAP).fold(GUTTER, f64::max);
    let left = to_px(MARGIN + gutter);
    let right = left + figure.plot_px[0];
    let mut flow = Layout { scale, left: to_px(MARGIN), right, y: to_px(MARGIN), shapes: Vec::new() };
    flow.heading(&words.title, TITLE_SIZE);
    flow.lines(&mut words.subtitle.iter().map(String::as_str), " · ");
    let top = (flow.y + to_px(GAP)).round();
    let bottom = top + figure.plot_px[1];
    flow.frame([left, right], [top, bottom]);
    flow.shapes.extend(figure.shapes([left, top]));
    flow.y = bottom + figure.footer_height() + to_px(GAP);
    flow.legend(words);
    let pending = scene.columns.pending.iter().any(|&bytes| bytes > 0);
    let awaiting = pending.then_some((Tint::Allocated, "live, not awaiting free; striped above it: awaiting free"));
    flow.fill_key(words.reserved.iter().map(|label| (Tint::Reserved, label.as_str())).chain(awaiting));
    flow.curve_key(figure);
    let mut notes = words.notes.clone();
    let pixels = if scene.band_px > 1 { format!("{} pixels", scene.band_px) } else { "a pixel".to_owned() };
    notes.push(format!("Blocks lower than {pixels} are merged, in the colour of the largest."));
    notes.push("Drawn by memscape.".to_owned());
    flow.lines(&mut notes.join(" ").split(' '), " ");
    Sheet {
        size: [right + figure.right_axis_px + to_px(MARGIN), flow.y + to_px(MARGIN - 4.0)]
            .map(|side| side.ceil() as u32),
        origin: [left, top].map(|at| at as u32),
        plot: figure.plot_px.map(|side| side as u32),
        scale,
        title: words.title.clone(),
        shapes: flow.shapes,
    }
}

/// Lays out shapes from top to bottom.
struct Layout {
    scale: f64,
    left: f64,
    right: f64,
    y: f64,
    shapes: Vec<Shape>,
}

impl Layout {
    fn text(&mut self, text: String, at: [f64; 2], anchor: Anchor, tint: Tint, style: FontStyle) {
        let size = FONT_SIZE * self.scale;
        self.shapes.push(Shape::Text(Text { text, at, anchor, size, tint, style }));
    }

    fn heading(&mut self, text: &str, css: f64) {
        let (size, at) = (css * self.scale, [self.left, self.y + css * self.scale * TOP_TO_BASELINE]);
        // Bold letters are about 10 % wider.
        let text = truncated(text, size * 1.1, self.right - self.left);
        let (tint, style, anchor) = (Tint::Strong, FontStyle::Bold, Anchor::Start);
        self.shapes.push(Shape::Text(Text { text, at, anchor, size, tint, style }));
        self.y += (css + 6.0) * self.scale;
    }

    /// Writes the parts, separated by `joint`, on as few lines as possible.
    fn lines(&mut self, parts: &mut dyn Iterator<Item = &str>, joint: &str) {
        let (size, room) = (FONT_SIZE * self.scale, self.right - self.left);
        let mut line = String::new();
        for part in parts {
            if !line.is_empty() && width(&line, size) + width(joint, size) + width(part, size) > room {
                self.line(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push_str(joint);
            }
            line.push_str(part);
        }
        self.line(line);
    }

    fn line(&mut self, line: String) {
        let size = FONT_SIZE * self.scale;
        let at = [self.left, self.y + size * TOP_TO_BASELINE];
        self.text(truncated(&line, size, self.right - self.left), at, Anchor::Start, Tint::Muted, FontStyle::Plain);
        self.y += LINE_HEIGHT * self.scale;
    }

    /// Draws a hairline around the picture.
    fn frame(&mut self, [left, right]: [f64; 2], [top, bottom]: [f64; 2]) {
        let hair = self.scale.round().max(1.0);
        for (x, y) in [
            ([left - hair, right + hair], [top - hair, top]),
            ([left - hair, right + hair], [bottom, bottom + hair]),
            ([left - hair, left], [top, bottom]),
            ([right, right + hair], [top, bottom]),
        ] {
            self.shapes.push(Shape::Bar { x, y, tint: Tint::Line, opacity: 1.0 });
        }
    }

    /// Draws the legend in columns, filled from top to bottom and then from left to right.
    fn legend(&mut self, words: &SheetText) {
        let scale = self.scale;
        if !words.legend.is_empty() {
            self.heading(&words.legend_title, FONT_SIZE);
            self.y += 1.0 * scale;
        }
        let room = self.right - self.left;
        let columns =
            ((room + COLUMN_GAP * scale) / ((MIN_COLUMN_WIDTH + COLUMN_GAP) * scale)).floor().max(1.0) as usize;
        let rows = words.legend.len().div_ceil(columns).max(1);
        let pitch = (room + COLUMN_GAP * scale) / columns as f64;
        for (index, line) in words.legend.iter().enumerate() {
            let (column, row) = (index / rows, index % rows);
            let left = (self.left + column as f64 * pitch).round();
            let y = self.y + row as f64 * LINE_HEIGHT * scale;
            let right = left + pitch - COLUMN_GAP * scale;
            self.swatch(left, y, Tint::Slot(line.slot));
            let (size, base) = (FONT_SIZE * scale, y + FONT_SIZE * scale * TOP_TO_BASELINE);
            let start = left + (SWATCH + 6.0) * scale;
            let left_over = right - start - width(&line.bytes, size) - 10.0 * scale;
            let tint = if line.faded { Tint::Muted } else { Tint::Strong };
            // All characters of a monospaced font are as wide as a wide one.
            let max_chars = (left_over / (size * 0.61)).max(0.0) as usize;
            self.text(
                shorten(&line.label, line.shared, max_chars),
                [start, base],
                Anchor::Start,
                tint,
                FontStyle::Mono,
            );
            self.text(line.bytes.clone(), [right, base], Anchor::End, Tint::Muted, FontStyle::Plain);
        }
        if !words.legend.is_empty() {
            self.y += (rows as f64 * LINE_HEIGHT + 4.0) * scale;
        }
    }

    /// Draws colour samples with labels for the fills that are not in the legend: reserved and awaiting free.
    fn fill_key<'a>(&mut self, keys: impl Iterator<Item = (Tint, &'a str)>) {
        let (scale, size) = (self.scale, FONT_SIZE * self.scale);
        let mut x = self.left;
        for (tint, text) in keys {
            self.swatch(x, self.y, tint);
            let start = x + (SWATCH + 6.0) * scale;
            let at = [start, self.y + size * TOP_TO_BASELINE];
            self.text(text.to_owned(), at, Anchor::Start, Tint::Strong, FontStyle::Plain);
            x = start + width(text, size) + COLUMN_GAP * scale;
        }
        if x > self.left {
            self.y += (LINE_HEIGHT + 4.0) * scale;
        }
    }

    /// Draws line samples with labels for the curves, in the line styles of the picture.
    fn curve_key(&mut self, figure: &Figure) {
        let (scale, size) = (self.scale, FONT_SIZE * self.scale);
        let mut x = self.left;
        for line in figure.curves.iter().map(|curve| curve.line) {
            let entry_width = LINE_SAMPLE * scale + width(line.label(), size);
            if x + entry_width > self.right && x > self.left {
                (x, self.y) = (self.left, self.y + LINE_HEIGHT * scale);
            }
            let (y, dash) = (self.y + size * 0.5, line.dash().iter().map(|part| part * scale).collect());
            let points = vec![[x, y], [x + (LINE_SAMPLE - 8.0) * scale, y]];
            self.shapes.push(Shape::Line { points, dash, thick: 1.6 * scale, tint: line.tint() });
            let at = [x + LINE_SAMPLE * scale, self.y + size * TOP_TO_BASELINE];
            self.text(line.label().to_owned(), at, Anchor::Start, Tint::Strong, FontStyle::Plain);
            x += entry_width + COLUMN_GAP * scale;
        }
        if x > self.left {
            self.y += (LINE_HEIGHT + 4.0) * scale;
        }
    }

    fn swatch(&mut self, left: f64, top: f64, tint: Tint) {
        let (left, top, side) = (left.round(), (top + self.scale).round(), (SWATCH * self.scale).round());
        let hair = self.scale.round().max(1.0);
        let (x, y) = ([left, left + side], [top, top + side]);
        let mut bar = |y: [f64; 2], tint: Tint| self.shapes.push(Shape::Bar { x, y, tint, opacity: 1.0 });
        match tint {
            Tint::Reserved => {
                bar(y, Tint::Reserved);
                bar([top, top + hair], Tint::ReservedEdge);
            }
            Tint::Allocated => bar([(top + side / 2.0).round(), (top + side / 2.0).round() + hair], Tint::Allocated),
            tint => bar(y, tint),
        }
    }
}

#[cfg(test)]
#[path = "../../../../tests/units/ui/figure/sheet.rs"]
mod tests;
