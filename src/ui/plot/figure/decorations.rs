//! Converts a figure (axes, marks, labels) into shapes around its picture.

use crate::plot::figure::Figure;
use crate::plot::figure::sizes::{CHIP_AREA, FONT_SIZE, MIDDLE_TO_BASELINE, TOP_TO_BASELINE};
use crate::plot::marks::{AXIS_PX, TRACK_PX};
use crate::state::slices::Slice;
use base::units::group_digits;
use picture::shapes::{Anchor, FontStyle, Shape, Text, Tint, truncated, width};
use picture::timeline::Axis;
use protocol::RangeSource;

const TICK_LENGTH: f64 = 5.0;
const LABEL_GAP: f64 = 9.0;
const LIFETIME_HEIGHT: f64 = 3.0;
/// Minimum width of a shortened name, in CSS pixels. Names with less space are omitted.
const MIN_NAME_WIDTH: f64 = 30.0;
/// Maximum number of outlined labels that are placed below each other to avoid overlaps.
const MAX_LABEL_ROWS: u32 = 4;

/// Collector of the shapes of a figure. The upper left corner of the picture is at `left` and `top`.
pub(super) struct Pen<'a> {
    pub(super) figure: &'a Figure,
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) scale: f64,
    pub(super) shapes: Vec<Shape>,
    /// Areas of the outlined labels drawn so far: left and right edge, and baseline.
    pub(super) occupied: Vec<([f64; 2], f64)>,
}

impl Figure {
    /// Returns the shapes around and in the picture, from back to front. `origin` is the picture's upper left corner.
    pub fn shapes(&self, origin: [f64; 2]) -> Vec<Shape> {
        let [left, top] = origin;
        let mut pen = Pen {
            figure: self,
            left,
            top,
            bottom: top + self.plot_px[1],
            scale: self.scale,
            shapes: Vec::new(),
            occupied: Vec::new(),
        };
        pen.gaps();
        pen.byte_axis();
        pen.height_title();
        pen.axis();
        pen.paused();
        pen.curves();
        pen.peak_line();
        pen.marks();
        pen.slices();
        pen.lifetime();
        pen.peak();
        pen.tools();
        pen.shapes
    }

    /// Returns the height of the decorations below the picture, in pixels.
    pub fn footer_height(&self) -> f64 {
        (AXIS_PX + 2.0 + f64::from(self.annotation_lanes) * TRACK_PX) * self.scale
    }
}

impl Pen<'_> {
    pub(super) fn bar(&mut self, x: [f64; 2], y: [f64; 2], tint: Tint, opacity: f64) {
        self.shapes.push(Shape::Bar { x, y, tint, opacity });
    }

    pub(super) fn text(&mut self, text: String, at: [f64; 2], anchor: Anchor, tint: Tint, style: FontStyle) {
        let size = FONT_SIZE * self.scale;
        self.shapes.push(Shape::Text(Text { text, at, anchor, size, tint, style }));
    }

    /// Returns the upper and lower edge of the device's part of the picture.
    pub(super) fn lane(&self) -> [f64; 2] {
        let [lower, upper] = self.figure.lane;
        [self.bottom - upper, self.bottom - lower]
    }

    /// Returns the width of a hairline in whole pixels.
    pub(super) fn hairline(&self) -> f64 {
        self.scale.round().max(1.0)
    }

    fn byte_axis(&mut self) {
        let (scale, hair, font) = (self.scale, self.hairline(), FONT_SIZE * self.scale);
        for tick in &self.figure.byte_ticks {
            let y = (self.bottom - tick.at_px as f64).round();
            // A label at either end moves inwards instead of being cut off.
            let label_y = y.clamp(self.top + font * 0.6, (self.bottom - font * 0.1).max(self.top + font * 0.6));
            let at = [self.left - LABEL_GAP * scale, label_y + font * MIDDLE_TO_BASELINE];
            // The title of the axis is at the top.
            if label_y - self.top > font * 1.7 {
                self.text(tick.label.clone(), at, Anchor::End, Tint::Muted, FontStyle::Plain);
            }
            self.bar([self.left - TICK_LENGTH * scale, self.left], [y, y + hair], Tint::Muted, 0.5);
            if tick.value > 0 {
                self.bar([self.left, self.left + self.figure.plot_px[0]], [y, y + hair], Tint::Muted, 0.13);
            }
        }
    }

    fn axis(&mut self) {
        let (scale, hair, font) = (self.scale, self.hairline(), FONT_SIZE * self.scale);
        let right = self.left + self.figure.plot_px[0];
        let baseline = self.bottom + 8.0 * scale + font * TOP_TO_BASELINE;
        let name = if self.figure.axis == Axis::Time { "time" } else { "event" };
        self.text(
            name.to_owned(),
            [self.left - LABEL_GAP * scale, baseline],
            Anchor::End,
            Tint::Muted,
            FontStyle::Plain,
        );
        for tick in &self.figure.ticks {
            let x = (self.left + tick.at_px as f64).round();
            self.bar([x, x + hair], [self.bottom, self.bottom + TICK_LENGTH * scale], Tint::Muted, 0.5);
            let half = width(&tick.label, font) / 2.0;
            let label_x = x.clamp(self.left + half, (right - half).max(self.left + half));
            self.text(tick.label.clone(), [label_x, baseline], Anchor::Middle, Tint::Muted, FontStyle::Plain);
        }
    }

    /// Draws a vertical line over the whole height of the lane.
    fn vertical_line(&mut self, x: f64, thickness: f64, tint: Tint, opacity: f64) {
        let x = (self.left + x - thickness / 2.0).round();
        let [top, bottom] = self.lane();
        self.bar([x, x + thickness.round().max(1.0)], [top, bottom], tint, opacity);
    }

    fn marks(&mut self) {
        let (figure, scale) = (self.figure, self.scale);
        if let Some(x) = figure.marks.recording.filter(|&x| x > 0.0) {
            self.vertical_line(x, scale, Tint::Muted, 0.35);
        }
        for &x in &figure.marks.snapshots {
            self.vertical_line(x, scale, Tint::Accent, 0.7);
        }
        for (x, text) in &figure.marks.out_of_memory {
            self.vertical_line(*x, 2.0 * scale, Tint::Peak, 0.9);
            let y = self.lane()[0] + (CHIP_AREA + 2.0) * scale + FONT_SIZE * scale * TOP_TO_BASELINE;
            self.label_beside(text, *x, 6.0 * scale, y, Tint::Peak);
        }
    }

    /// Draws an outlined label beside `x`, on the side with more space. Moves it down if it would overlap another
    /// label, and omits it if there are too many.
    pub(super) fn label_beside(&mut self, text: &str, x: f64, gap: f64, y: f64, tint: Tint) {
        let (anchor, gap) = if x > self.figure.plot_px[0] / 2.0 { (Anchor::End, -gap) } else { (Anchor::Start, gap) };
        let (label_width, x, line) =
            (width(text, FONT_SIZE * self.scale), self.left + x + gap, FONT_SIZE * self.scale * 1.35);
        let span = if anchor == Anchor::End { [x - label_width, x] } else { [x, x + label_width] };
        // The label must not overlap the line at the peak's height either.
        let (peak, scale) = (self.peak_y(), self.scale);
        let is_on_peak_line = |y: f64| peak.is_some_and(|line| (y - 11.0 * scale..y + 3.0 * scale).contains(&line));
        let is_free = |y: f64| {
            let is_apart =
                |(of, base): &([f64; 2], f64)| (base - y).abs() >= line || of[1] <= span[0] || span[1] <= of[0];
            !is_on_peak_line(y) && self.occupied.iter().all(is_apart)
        };
        let free_y = (0..MAX_LABEL_ROWS).map(|row| y + f64::from(row) * line).find(|&y| is_free(y));
        if let Some(y) = free_y {
            self.occupied.push((span, y));
            if tint == Tint::Peak && !text.is_empty() {
                // Red text is hard to read on the colours of blocks.
                self.bar(
                    [span[0] - 3.0 * scale, span[1] + 3.0 * scale],
                    [y - 10.5 * scale, y + 3.5 * scale],
                    Tint::Ground,
                    0.92,
                );
            }
            self.text(text.to_owned(), [x, y], anchor, tint, FontStyle::Outlined);
        }
    }

    fn slices(&mut self) {
        let (figure, scale, font) = (self.figure, self.scale, FONT_SIZE * self.scale);
        let (height, edge) = ((TRACK_PX - 2.0) * scale, scale.max(1.0));
        for slice in &figure.marks.slices {
            let top = self.bottom + (AXIS_PX + f64::from(slice.lane) * TRACK_PX) * scale;
            let (x, y) = (slice.x.map(|x| self.left + x), [top, top + height]);
            let x = [x[0], x[1].max(x[0] + edge)];
            // Several merged slices are drawn as a bar without edges.
            let opacity = match slice.source {
                _ if slice.count > 1 => 0.4,
                RangeSource::InferredPhase => 0.12,
                RangeSource::Annotation | RangeSource::Phase => 0.22,
            };
            self.bar(x, y, Tint::Accent, opacity);
            if slice.count == 1 {
                self.bar([x[0], x[0] + edge], y, Tint::Accent, 0.8);
            }
            if slice.has_end && slice.count == 1 {
                self.bar([x[1] - edge, x[1]], y, Tint::Accent, 0.8);
            }
            let text = label(slice, font, x[1] - x[0] - 7.0 * scale, MIN_NAME_WIDTH * scale);
            if !text.is_empty() {
                let at = [x[0] + 5.0 * scale, top + height / 2.0 + font * MIDDLE_TO_BASELINE];
                self.text(text, at, Anchor::Start, Tint::Strong, FontStyle::Plain);
            }
        }
    }

    /// Draws the lifetime of the selected allocation as a bar on the horizontal axis.
    fn lifetime(&mut self) {
        let Some(life) = self.figure.lifetime else { return };
        let [from, to] = life.map(|x| x.clamp(0.0, self.figure.plot_px[0]));
        let from = self.left + from;
        let right = self.left + to;
        self.bar(
            [from, right.max(from + 2.0 * self.scale)],
            [self.bottom, self.bottom + LIFETIME_HEIGHT * self.scale],
            Tint::Accent,
            1.0,
        );
    }

    /// Returns the y coordinate of the peak, from the top. `None` if it is outside the lane.
    fn peak_y(&self) -> Option<f64> {
        let [top, bottom] = self.lane();
        let y = self.bottom - self.figure.peak.as_ref()?.y;
        (top..=bottom).contains(&y).then_some(y)
    }

    /// Draws a dashed line at the peak's height, behind all labels.
    fn peak_line(&mut self) {
        let Some(y) = self.peak_y() else { return };
        let (x, dash) = ([self.left, self.left + self.figure.plot_px[0]], 4.0 * self.scale);
        let y = [y.round() - self.hairline(), y.round()];
        self.shapes.push(Shape::Dashes { x, y, dash, tint: Tint::Peak, opacity: 0.7 });
    }

    /// Draws a triangle at the peak, with the label beside it.
    fn peak(&mut self) {
        let figure = self.figure;
        let (Some(peak), Some(y)) = (&figure.peak, self.peak_y()) else { return };
        let (scale, lane_top) = (self.scale, self.lane()[0]);
        if !(0.0..=figure.plot_px[0]).contains(&peak.x) {
            return;
        }
        let (tip, size) = (self.left + peak.x, 4.5 * scale);
        let above = y - scale - 1.6 * size;
        let corners = [[tip, y - scale], [tip - size, above], [tip + size, above]];
        self.shapes.push(Shape::Triangle { corners, tint: Tint::Peak });
        // If the line is near the top, the label goes below it and below the labels of cursor and crosshair.
        let is_low = y - lane_top > (CHIP_AREA + 18.0) * scale;
        let below = (y + 14.0 * scale).max(lane_top + (CHIP_AREA + 2.0) * scale + FONT_SIZE * scale * TOP_TO_BASELINE);
        let base = if is_low { y - 5.0 * scale } else { below };
        self.label_beside(&peak.label, peak.x, 2.0 * size, base, Tint::Peak);
    }
}

/// Returns a label of a slice that fits into `room` pixels: the full name, the part that differs from other names, or a
/// shortened form. Numbers are not shortened. Merged slices show their count. Empty if nothing fits.
fn label(slice: &Slice, font: f64, room: f64, min_width: f64) -> String {
    let fits = |text: &str| width(text, font) <= room;
    if fits(&slice.name) {
        return slice.name.clone();
    }
    if slice.count > 1 {
        return Some(["×", &group_digits(slice.count.into())].concat()).filter(|text| fits(text)).unwrap_or_default();
    }
    let rest = slice.name.get(slice.shared_prefix..).filter(|rest| !rest.is_empty()).unwrap_or(&slice.name);
    let short = if rest.len() < slice.name.len() { ["…", rest].concat() } else { rest.to_owned() };
    match (fits(&short), fits(rest)) {
        (true, _) => short,
        (_, true) => rest.to_owned(),
        _ if room < min_width || rest.bytes().all(|c| c.is_ascii_digit()) => String::new(),
        // Never cut at both ends.
        _ => truncated(rest, font, room),
    }
}

#[cfg(test)]
#[path = "../../../../tests/units/ui/figure/around.rs"]
mod tests;
