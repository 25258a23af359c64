//! Lines, chips and texts of the overlay.

use crate::labels::FONT;
use crate::theme::Theme;
use ui::plot::placement::place_chip as beside;
use ui::state::effect::Pointer;
use web_sys::CanvasRenderingContext2d;

/// Height of a chip (a label with a background), in CSS pixels.
pub(super) const CHIP_PX: f64 = 18.0;
/// Padding on the left and right of a chip's text, in CSS pixels.
pub(super) const PADDING_PX: f64 = 5.0;
/// Gap between two chips, in CSS pixels.
const GAP_PX: f64 = 4.0;
/// Gap, in CSS pixels, between an end of the ruler and the measurement.
pub(super) const RULER_GAP_PX: f64 = 8.0;

/// Draws on the overlay of a lane in the current theme.
pub(super) struct Brush<'a> {
    pub(super) context: CanvasRenderingContext2d,
    pub(super) theme: &'a Theme,
    pub(super) scale: f64,
    /// Left edge of the plot on the stage, in device pixels.
    pub(super) left: f64,
    /// Width and height of the plot, in device pixels.
    pub(super) plot: (f64, f64),
    /// Upper and lower edge of all lanes, in device pixels below the upper edge of the focused lane.
    pub(super) span: (f64, f64),
    /// Height of the row of labels above the picture, in device pixels.
    pub(super) row: f64,
    /// Width and height of the stage, in device pixels.
    pub(super) stage: (f64, f64),
}

impl Brush<'_> {
    /// Converts a position in the plot (device pixels from its lower left corner) to canvas coordinates.
    pub(super) fn to_canvas(&self, place: Pointer) -> (f64, f64) {
        (self.left + place.x, self.plot.1 - place.y)
    }

    pub(super) fn fill(&self, colour: &str, alpha: f64, (x, y): (f64, f64), (width, height): (f64, f64)) {
        self.context.set_fill_style_str(colour);
        self.context.set_global_alpha(alpha);
        self.context.fill_rect(x, y, width, height);
        self.context.set_global_alpha(1.0);
    }

    pub(super) fn hairline(&self) -> f64 {
        self.scale.round().max(1.0)
    }

    /// Draws a dashed line across the plot, `y` device pixels above its bottom.
    pub(super) fn dashed_line(&self, y: f64) {
        let (y, dash) = ((self.plot.1 - y).round(), 6.0 * self.scale);
        let mut x = self.left;
        while x < self.right() {
            self.fill(&self.theme.strong, 0.75, (x, y), (dash.min(self.right() - x), self.hairline()));
            x += dash * 1.5;
        }
    }

    pub(super) fn text_width(&self, text: &str) -> f64 {
        self.context.measure_text(text).map_or(0.0, |size| size.width())
    }

    /// Draws a chip (a label with a background) whose upper left corner is at (`x`, `y`).
    pub(super) fn chip(&self, text: &str, (x, y): (f64, f64), (ground, ink): (&str, &str)) {
        let size = (self.text_width(text) + 2.0 * PADDING_PX * self.scale, CHIP_PX * self.scale);
        self.fill(ground, 1.0, (x.round(), y.round()), size);
        self.context.set_fill_style_str(ink);
        self.context.set_text_align("left");
        self.context.set_text_baseline("middle");
        // Cannot fail for a string.
        let _ = self.context.fill_text(
            text,
            x.round() + PADDING_PX * self.scale,
            y.round() + size.1 / 2.0 + self.scale * 0.5,
        );
    }

    /// Draws a chip at the top of the picture or in the row above it, centred at `x` unless it would overlap the range
    /// `taken`. Returns its left and right edge.
    pub(super) fn top_label(&self, text: &str, x: f64, taken: Option<[f64; 2]>, colours: (&str, &str)) -> [f64; 2] {
        let width = self.text_width(text) + 2.0 * PADDING_PX * self.scale;
        let left = beside(x, width, [self.left, self.right()], taken, GAP_PX * self.scale);
        self.chip(text, (left, self.span.0 - self.row), colours);
        [left, left + width]
    }

    /// Right edge of the plot on the stage, in device pixels.
    pub(super) fn right(&self) -> f64 {
        self.left + self.plot.0
    }

    /// Draws a text that begins or ends at a position of the plot, depending on the available space. An outline makes
    /// it legible on any background.
    pub(super) fn outlined_text(&self, text: &str, x: f64, y: f64, ink: &str) {
        let width = self.text_width(text);
        let left = if x + width + RULER_GAP_PX * self.scale > self.plot.0 { x - width } else { x };
        let half = FONT * self.scale * 0.8;
        let x = self.left + left.clamp(self.scale * PADDING_PX, (self.plot.0 - width).max(self.scale * PADDING_PX));
        let y = (self.plot.1 - y).clamp(half, (self.plot.1 - half).max(half));
        self.context.set_text_align("left");
        self.context.set_text_baseline("middle");
        self.context.set_stroke_style_str(&self.theme.ground);
        self.context.set_line_width(4.0 * self.scale);
        let _ = self.context.stroke_text(text, x, y);
        self.context.set_fill_style_str(ink);
        let _ = self.context.fill_text(text, x, y);
    }

    /// Strokes the current path, with an outline in a contrasting colour so that it is visible on any background.
    pub(super) fn stroke(&self) {
        for (colour, width) in [(&self.theme.ground, 3.0), (&self.theme.strong, 1.0)] {
            self.context.set_stroke_style_str(colour);
            self.context.set_line_width(width * self.scale);
            self.context.stroke();
        }
    }

    pub(super) fn outline(&self, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let context = &self.context;
        context.begin_path();
        context.rect(x + self.hairline() / 2.0, y + self.hairline() / 2.0, width, height);
        self.stroke();
    }
}
