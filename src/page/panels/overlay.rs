//! Canvas with crosshair, cursor, range, ruler, selection box, markers and capacity line. It lies above the timeline,
//! which is not redrawn when the pointer moves.

mod brush;

use crate::app::{App, LastShown, Part};
use crate::elements::elements;
use crate::labels::{FONT, label_context};
use crate::theme::Theme;
use brush::{Brush, CHIP_PX, PADDING_PX, RULER_GAP_PX};
use picture::timeline::View;
use ui::features::State;
use ui::plot::marks::{AXIS_PX, TRACK_PX, label_row_px};
use ui::plot::overlay::{Crosshair, MarkerFlag, Overlay};
use ui::state::drawing::Canvas;
use ui::state::effect::Pointer;

elements! {
    HtmlCanvasElement: overlay;
}

/// Distance, in CSS pixels, from the top of the picture to the numbers of markers. Out-of-memory marks lie above.
const FLAG_TOP_PX: f64 = 38.0;
/// Distance from the top of the picture to the labels of the ends of a range, in CSS pixels.
const ENDS_TOP_PX: f64 = 26.0;

/// State of the canvas, including the overlay that was drawn last.
#[derive(Default)]
pub(super) struct Panel {
    shown: LastShown<(Overlay, OverlaySize, Theme)>,
}

/// Sizes in device pixels: width and height of the stage, height of the picture, space above the focused lane, space to
/// the right of the picture, and the row of labels above the picture.
type OverlaySize = ((u32, u32), u32, f64, f64, f64);

fn space_above(state: &State, view: &View, canvas: &Canvas) -> f64 {
    let bottom = state.focused_lane().map_or(0, |lane| lane.bottom_px);
    f64::from(canvas.height_px.saturating_sub(view.height_px).saturating_sub(bottom))
}

impl Part for Panel {
    type Elements = Elements;

    fn show_details(&mut self, app: &'static App, elements: &Elements, state: &State) {
        let (Some(view), Some(canvas)) = (state.view(), state.canvas) else {
            // As for the flame graph, WebKit may show the canvas as empty.
            self.shown = LastShown::default();
            return;
        };
        let stage = app.sizes.stage.get().to_device(canvas.scale);
        let above = space_above(state, &view, &canvas);
        let right = (ui::plot::plots::axis::right_axis_px(state) * canvas.scale).round();
        let row = (label_row_px(state) * canvas.scale).round();
        let now =
            (Overlay::from_state(state), (stage, canvas.height_px, above, right, row), app.theme.borrow().clone());
        let Some((overlay, _, theme)) = self.shown.update(now) else { return };
        let layer = &elements.overlay;
        if (layer.width(), layer.height()) != stage {
            layer.set_width(stage.0);
            layer.set_height(stage.1);
        }
        let Some(context) = label_context(layer, theme, canvas.scale) else { return };
        let stage_px = (f64::from(stage.0), f64::from(stage.1));
        context.clear_rect(0.0, 0.0, stage_px.0, stage_px.1);
        let plot = (f64::from(view.width_px), f64::from(view.height_px));
        let span = (-above, f64::from(canvas.height_px) - above);
        let left = stage_px.0 - plot.0 - right;
        // Everything belongs to the focused lane, so its upper edge becomes the origin.
        context.save();
        let _ = context.translate(0.0, above + row);
        let brush = Brush { context, theme, scale: canvas.scale, left, plot, span, row, stage: stage_px };
        brush.draw(overlay);
        brush.context.restore();
    }
}

impl Brush<'_> {
    fn draw(&self, overlay: &Overlay) {
        if let Some((y, text)) = &overlay.capacity {
            self.dashed_line(*y);
            self.outlined_text(
                text,
                self.plot.0 - RULER_GAP_PX * self.scale,
                y + FONT * self.scale,
                &self.theme.strong,
            );
        }
        if let Some(ends) = overlay.range {
            self.range(ends);
        }
        if let Some((x, lane)) = overlay.slice {
            let top = self.span.1 + (AXIS_PX + f64::from(lane) * TRACK_PX) * self.scale;
            let size = ((x[1] - x[0]).max(self.hairline()), (TRACK_PX - 2.0) * self.scale);
            self.fill(&self.theme.accent, 0.35, (self.left + x[0], top), size);
        }
        if let Some([a, b]) = overlay.range.filter(|_| overlay.labels_ends) {
            // Inside the range, below the chip of the cursor and the name of a lane.
            let (top, colours) = (self.span.0 + ENDS_TOP_PX * self.scale, (&*self.theme.accent, &*self.theme.ground));
            let width = self.text_width("B") + 2.0 * PADDING_PX * self.scale;
            self.chip("A", (self.left + a.max(0.0), top), colours);
            self.chip("B", (self.left + b.min(self.plot.0) - width, top), colours);
        }
        // In a comparison, the labels of both cursors name their lane.
        let sides = match &overlay.other_cursor {
            Some((.., top)) if *top > 0.0 => ["A · ", "B · "],
            Some(_) => ["B · ", "A · "],
            None => ["", ""],
        };
        let cursor = overlay.cursor.as_ref();
        // Two peaks that are compared need not be at aligned events, so each lane has its own line.
        let [own, other] = match &overlay.other_cursor {
            Some((.., top)) if *top > 0.0 => [(self.span.0, self.plot.1), (self.span.0 + top, self.span.1)],
            Some(_) => [(0.0, self.span.1), (self.span.0, 0.0)],
            None => [self.span; 2],
        };
        let pinned = cursor.map(|(x, text)| self.draw_cursor(*x, own, &[sides[0], text].concat()));
        if let Some((x, text, _)) = &overlay.other_cursor {
            self.cursor_line(self.left + x.floor(), other);
            let colours = (&*self.theme.accent, &*self.theme.ground);
            self.top_label(&[sides[1], text].concat(), self.left + x, pinned, colours);
        }
        overlay.markers.iter().for_each(|flag| self.draw_marker(flag));
        if let Some(corners) = overlay.zoom_box {
            self.draw_selection_box(corners);
        }
        if let Some((ends, text)) = &overlay.ruler {
            self.ruler(*ends, text);
        }
        if let Some(column) = overlay.other_lane_pointer {
            let from = ((self.left + column).floor(), self.span.0);
            self.fill(&self.theme.strong, 0.45, from, (self.hairline(), self.span.1 - self.span.0));
        }
        if let Some(crosshair) = &overlay.crosshair {
            self.crosshair(crosshair, pinned);
        }
    }

    /// Draws the crosshair, with a gap around the pointer, and its labels on both axes. `pinned` are the edges of the
    /// cursor's label, which is not covered.
    fn crosshair(&self, crosshair: &Crosshair, pinned: Option<[f64; 2]>) {
        let (x, y) = self.to_canvas(crosshair.at);
        let (x, y, hair, free) = (x.floor(), y.floor(), self.hairline(), 7.0 * self.scale);
        let (ground, ink) = (self.theme.strong.as_str(), self.theme.ground.as_str());
        let line =
            |from: (f64, f64), size: (f64, f64)| self.fill(ground, 0.45, from, (size.0.max(0.0), size.1.max(0.0)));
        line((x, self.span.0), (hair, y - free - self.span.0));
        line((x, y + free), (hair, self.span.1 - y - free));
        line((self.left, y), (x - self.left - free, hair));
        line((x + free, y), (self.right() - x - free, hair));
        self.top_label(&crosshair.x_label, x, pinned, (ground, ink));
        let width = self.text_width(&crosshair.y_label) + 2.0 * PADDING_PX * self.scale;
        let height = CHIP_PX * self.scale;
        let top = (y - height / 2.0).clamp(0.0, (self.plot.1 - height).max(0.0));
        self.chip(&crosshair.y_label, ((self.left - width - 3.0 * self.scale).max(0.0), top), (ground, ink));
    }

    /// Draws the visible part of the selected range, its edges, and grips on the axis.
    fn range(&self, [from, to]: [f64; 2]) {
        let accent = self.theme.accent.as_str();
        let inside = [from, to].map(|x| x.clamp(0.0, self.plot.0));
        let (top, height) = (self.span.0, self.span.1 - self.span.0);
        let left = self.left + inside[0].floor();
        self.fill(accent, 0.14, (left, top), ((inside[1] - inside[0]).round().max(self.hairline()), height));
        for x in [from, to].into_iter().filter(|x| (0.0..=self.plot.0).contains(x)) {
            let x = self.left + x.floor();
            self.fill(accent, 1.0, (x, top), (self.hairline(), height));
            let grip = (5.0 * self.scale, 10.0 * self.scale);
            self.fill(accent, 1.0, ((x - grip.0 / 2.0).round(), self.span.1), grip);
        }
    }

    /// Draws the cursor's line, handle and label. Returns the left and right edge of the label.
    fn draw_cursor(&self, x: f64, lane: (f64, f64), text: &str) -> [f64; 2] {
        let (x, hair, accent) = (self.left + x.floor(), self.hairline(), self.theme.accent.as_str());
        self.cursor_line(x, lane);
        let (foot, side) = (self.span.1, 6.0 * self.scale);
        self.context.begin_path();
        self.context.move_to(x + hair / 2.0, foot - 1.0);
        self.context.line_to(x + side, foot + side);
        self.context.line_to(x - side, foot + side);
        self.context.close_path();
        self.context.set_fill_style_str(accent);
        self.context.fill();
        self.top_label(text, x, None, (accent, &self.theme.ground))
    }

    /// Draws the line of a cursor from the top of a lane to its bottom, on both sides of the column, which stays
    /// visible. A peak is often only one column wide.
    fn cursor_line(&self, x: f64, (top, bottom): (f64, f64)) {
        let hair = self.hairline();
        for x in [x - hair, x + hair] {
            self.fill(&self.theme.accent, 1.0, (x, top), (hair, bottom - top));
        }
    }

    /// Draws a marker: a line with its number at the top, and a dot at its position.
    fn draw_marker(&self, flag: &MarkerFlag) {
        let (x, y) = self.to_canvas(flag.at);
        let accent = self.theme.accent.as_str();
        self.fill(&self.theme.ground, 0.7, (x.floor() - self.hairline(), 0.0), (3.0 * self.hairline(), self.plot.1));
        self.fill(accent, 1.0, (x.floor(), 0.0), (self.hairline(), self.plot.1));
        if (0.0..=self.plot.1).contains(&y) {
            let side = 5.0 * self.scale;
            self.fill(accent, 1.0, ((x - side / 2.0).round(), (y - side / 2.0).round()), (side, side));
        }
        let width = self.text_width(&flag.number) + 2.0 * PADDING_PX * self.scale;
        let on_the_left = flag.at.x + width > self.plot.0;
        let left = if on_the_left { x - width } else { x };
        self.chip(&flag.number, (left, FLAG_TOP_PX * self.scale), (accent, &self.theme.ground));
        if !flag.text.is_empty() {
            let gap = width + PADDING_PX * self.scale;
            let text = self.text_width(&flag.text);
            let x = if flag.at.x + gap + text > self.plot.0 - PADDING_PX {
                flag.at.x - gap - text
            } else {
                flag.at.x + gap
            };
            self.outlined_text(
                &flag.text,
                x,
                self.plot.1 - (FLAG_TOP_PX + CHIP_PX / 2.0) * self.scale,
                &self.theme.strong,
            );
        }
    }

    fn draw_selection_box(&self, [a, b]: [Pointer; 2]) {
        let ((ax, ay), (bx, by)) = (self.to_canvas(a), self.to_canvas(b));
        let from = (ax.min(bx).round(), ay.min(by).round());
        let size = ((ax - bx).abs().round(), (ay - by).abs().round());
        self.fill(&self.theme.accent, 0.16, from, size);
        self.outline(from, size);
    }

    /// Draws the ruler's box, clipped to the plot, and the measurement at its end.
    fn ruler(&self, [from, to]: [Pointer; 2], text: &str) {
        let inside =
            |place: Pointer| Pointer { x: place.x.clamp(0.0, self.plot.0), y: place.y.clamp(0.0, self.plot.1) };
        let ((ax, ay), (bx, by)) = (self.to_canvas(inside(from)), self.to_canvas(inside(to)));
        let corner = (ax.min(bx).round(), ay.min(by).round());
        let size = ((ax - bx).abs().round(), (ay - by).abs().round());
        self.fill(&self.theme.accent, 0.1, corner, size);
        self.outline(corner, size);
        self.context.begin_path();
        self.context.move_to(ax, ay);
        self.context.line_to(bx, by);
        self.stroke();
        // On the side away from the first end, so that it does not cover the measured area.
        let width = self.text_width(text) + 2.0 * PADDING_PX * self.scale;
        let (gap, height) = (RULER_GAP_PX * self.scale, CHIP_PX * self.scale);
        let left = if bx >= ax { bx + gap } else { bx - gap - width };
        let top = if by > ay { by + gap } else { by - gap - height };
        let left = left.clamp(self.left, (self.stage.0 - width).max(self.left));
        let top = top.clamp(0.0, (self.plot.1 - height).max(0.0));
        self.chip(text, (left, top), (&self.theme.strong, &self.theme.ground));
    }
}
