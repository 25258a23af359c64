//! Text and marks on a 2-D canvas above the picture: both axes, the peak, the life of the selection.

use super::dom::Elements;
use super::marks;
use super::theme::Theme;
use crate::timeline::{Axis, Tick, View, event_ticks, time_ticks};
use crate::ui::State;
use crate::ui::lane_labels::lane_ticks;
use crate::ui::marks::Around;
use crate::units::Bytes;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

/// CSS pixels between marks of an axis, at least.
const BYTES_APART: f64 = 44.0;
const EVENTS_APART: f64 = 90.0;
/// CSS pixels.
pub(super) const FONT: f64 = 11.0;
const MARK: f64 = 5.0;
const BAR: f64 = 3.0;
/// So faint that every pixel rounds to nothing, and yet it is drawn.
const UNSEEN: f64 = 0.001;

/// What is drawn, in device pixels of the plot: x from its left, y up from its bottom.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Labels {
    plot: (f64, f64),
    /// The focused lane's rows: the lower and the upper edge.
    lane: (f64, f64),
    bytes: Vec<Tick>,
    axis: Axis,
    events: Vec<Tick>,
    marks: Around,
    peak: Option<Peak>,
    /// From when to when the selection lives.
    life: Option<(f64, f64)>,
}

#[derive(Clone, Debug, PartialEq)]
struct Peak {
    x: f64,
    y: f64,
    label: String,
}

/// The canvas of the labels in device pixels.
pub(super) fn stage_size(elements: &Elements, scale: f64) -> (u32, u32) {
    let side = |css: i32| (f64::from(css) * scale).round() as u32;
    (side(elements.stage.client_width()), side(elements.stage.client_height()))
}

impl Labels {
    /// The labels of the window; of several lanes, those of the focused one and all bytes axes.
    pub(super) fn of(state: &State, view: &View) -> Labels {
        let canvas = state.canvas;
        let (scale, height_px) = canvas.map_or((1.0, view.height_px), |canvas| (canvas.scale, canvas.height_px));
        let bottom = state.focused_lane().map_or(0.0, |lane| f64::from(lane.bottom_px));
        let peak = state.device().filter(|device| device.peak_requested > 0).map(|device| {
            let peak = u64::try_from(device.peak_requested).unwrap_or(0);
            Peak {
                x: state.peak_x().map_or(f64::NAN, |x| view.column_from_x(x + 0.5)),
                y: view.row_from_bytes(peak) as f64 + bottom,
                // A lane's label tells it already.
                label: if state.has_lanes() { String::new() } else { format!("peak {}", Bytes(peak)) },
            }
        });
        let life = state.selection.as_deref().map(|selected| {
            let end = |event: Option<u32>, time_us: Option<i64>, open: f64| {
                event.and_then(|event| state.x_of(event, time_us)).map_or(open, |x| view.column_from_x(x))
            };
            let from = end(selected.born_event, selected.born_us, view.column_from_x(0.0));
            (from, end(selected.freed_event, selected.freed_us, f64::from(view.width_px)))
        });
        let shared = state.shared_axis();
        let ticks = match state.device() {
            Some(device) if state.axis == Axis::Time => {
                time_ticks(view, shared.zero_on(device), shared.recorded(), EVENTS_APART * scale)
            }
            _ => event_ticks(view, u32::try_from(shared.recorded()).unwrap_or(u32::MAX), EVENTS_APART * scale),
        };
        Labels {
            plot: (f64::from(view.width_px), f64::from(height_px)),
            lane: (bottom, bottom + f64::from(view.height_px)),
            bytes: lane_ticks(state, BYTES_APART * scale, FONT * scale),
            axis: state.axis,
            events: ticks,
            marks: Around::of(state, view),
            peak,
            life,
        }
    }

    /// Draws them.
    pub(super) fn draw(&self, elements: &Elements, theme: &Theme, stage: (u32, u32), scale: f64) {
        let canvas = &elements.labels;
        if (canvas.width(), canvas.height()) != stage {
            canvas.set_width(stage.0);
            canvas.set_height(stage.1);
        }
        let Some(context) = context(canvas, theme, scale) else { return };
        context.clear_rect(0.0, 0.0, f64::from(stage.0), f64::from(stage.1));
        context.set_global_alpha(1.0);
        // The plot is at the stage's right and top, so the gutters are what is left.
        let lane = (self.plot.1 - self.lane.1, self.plot.1 - self.lane.0);
        let pen = Pen { context, theme, scale, left: f64::from(stage.0) - self.plot.0, plot: self.plot, lane };
        pen.bytes(&self.bytes);
        pen.events(&self.events, self.axis, f64::from(stage.0));
        marks::draw(&pen, &self.marks);
        if let Some((from, to)) = self.life {
            pen.life(from, to);
        }
        if let Some(peak) = &self.peak {
            pen.peak(peak);
        }
    }
}

/// Writes a text that nobody sees. The first one on a canvas keeps the page for 30 to 150 ms, for the browser's link to the GPU
/// process and for the font: better now, while nothing is open, than when the first picture is due.
pub(super) fn prepare(elements: &Elements, theme: &Theme) {
    let scale = elements.window.device_pixel_ratio();
    if let Some(context) = context(&elements.labels, theme, scale) {
        context.set_global_alpha(UNSEEN);
        let _ = context.fill_text("0123456789 KMGiB", 0.0, FONT * scale);
    }
}

/// The context of a canvas, with the font of labels.
pub(super) fn context(canvas: &HtmlCanvasElement, theme: &Theme, scale: f64) -> Option<CanvasRenderingContext2d> {
    let context: CanvasRenderingContext2d = canvas.get_context("2d").ok()??.dyn_into().ok()?;
    context.set_font(&format!("{}px {}", FONT * scale, theme.font));
    Some(context)
}

pub(super) struct Pen<'a> {
    pub(super) context: CanvasRenderingContext2d,
    pub(super) theme: &'a Theme,
    pub(super) scale: f64,
    /// The plot's left edge on the stage.
    pub(super) left: f64,
    pub(super) plot: (f64, f64),
    /// The focused lane's upper and lower edge, from the plot's top.
    pub(super) lane: (f64, f64),
}

impl Pen<'_> {
    pub(super) fn text(&self, text: &str, x: f64, y: f64) {
        // It fails for no text.
        let _ = self.context.fill_text(text, x, y);
    }

    fn bytes(&self, ticks: &[Tick]) {
        let (context, scale) = (&self.context, self.scale);
        context.set_text_align("right");
        context.set_text_baseline("middle");
        for tick in ticks {
            let y = self.plot.1 - tick.at_px as f64;
            context.set_fill_style_str(&self.theme.text);
            // A label at either end moves inwards rather than being cut.
            let inside = y.clamp(FONT * scale * 0.6, self.plot.1 - FONT * scale * 0.1);
            self.text(&tick.label, self.left - 9.0 * scale, inside);
            context.set_fill_style_str(&self.theme.text);
            context.set_global_alpha(0.5);
            context.fill_rect(self.left - MARK * scale, y.round(), MARK * scale, scale.round().max(1.0));
            if tick.value > 0 {
                context.set_global_alpha(0.13);
                context.fill_rect(self.left, y.round(), self.plot.0, scale.round().max(1.0));
            }
            context.set_global_alpha(1.0);
        }
    }

    fn events(&self, ticks: &[Tick], axis: Axis, stage_width: f64) {
        let (context, scale) = (&self.context, self.scale);
        let top = self.plot.1;
        context.set_text_baseline("top");
        context.set_fill_style_str(&self.theme.text);
        context.set_text_align("right");
        self.text(if axis == Axis::Time { "time" } else { "event" }, self.left - 9.0 * scale, top + 8.0 * scale);
        context.set_text_align("center");
        for tick in ticks {
            let x = self.left + tick.at_px as f64;
            context.set_global_alpha(0.5);
            context.fill_rect(x.round(), top, scale.round().max(1.0), MARK * scale);
            context.set_global_alpha(1.0);
            let half = context.measure_text(&tick.label).map_or(0.0, |size| size.width() / 2.0) + 4.0 * scale;
            self.text(
                &tick.label,
                x.clamp(self.left + half - 4.0 * scale, (stage_width - half).max(self.left + half)),
                top + 8.0 * scale,
            );
        }
    }

    /// A bar on the event axis.
    fn life(&self, from: f64, to: f64) {
        let (from, to) = (from.clamp(0.0, self.plot.0), to.clamp(0.0, self.plot.0));
        let width = (to - from).max(2.0 * self.scale);
        self.context.set_fill_style_str(&self.theme.accent);
        self.context.fill_rect(self.left + from, self.plot.1, width, BAR * self.scale);
    }

    /// A line at the peak's height, a mark where it is, its size beside it.
    fn peak(&self, peak: &Peak) {
        let (context, scale) = (&self.context, self.scale);
        let y = self.plot.1 - peak.y;
        if !(self.lane.0..=self.lane.1).contains(&y) {
            return;
        }
        context.set_fill_style_str(&self.theme.peak);
        context.set_global_alpha(0.7);
        let dash = 4.0 * scale;
        let mut x = self.left;
        while x < self.left + self.plot.0 {
            context.fill_rect(x, y.round() - scale.round(), dash, scale.round().max(1.0));
            x += 2.0 * dash;
        }
        context.set_global_alpha(1.0);
        if !(0.0..=self.plot.0).contains(&peak.x) {
            return;
        }
        let (tip, size) = (self.left + peak.x, 4.5 * scale);
        context.begin_path();
        context.move_to(tip, y - scale);
        context.line_to(tip - size, y - scale - 1.6 * size);
        context.line_to(tip + size, y - scale - 1.6 * size);
        context.close_path();
        context.fill();
        let on_the_left = peak.x > self.plot.0 / 2.0;
        context.set_text_align(if on_the_left { "right" } else { "left" });
        context.set_text_baseline("bottom");
        let x = if on_the_left { tip - 2.0 * size } else { tip + 2.0 * size };
        // Where the peak touches the top, its label goes below the line.
        let base = if y - self.lane.0 > 18.0 * scale { y - 2.0 * scale } else { y + 17.0 * scale };
        context.set_stroke_style_str(&self.theme.ground);
        context.set_line_width(3.0 * scale);
        let _ = context.stroke_text(&peak.label, x, base);
        self.text(&peak.label, x, base);
    }
}
