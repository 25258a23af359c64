//! Decorations of the Addresses and Reserved plots: gaps in the address axis, curves with their axis to the right,
//! and the title of the vertical axis.

use crate::plot::figure::PAUSED;
use crate::plot::figure::decorations::Pen;
use crate::plot::figure::sizes::{CHIP_AREA, FONT_SIZE, MIDDLE_TO_BASELINE, TOP_TO_BASELINE};
use crate::state::line::Curve;
use picture::shapes::{Anchor, Band, FontStyle, Shape, Tint, width};

/// Width of a curve, in CSS pixels.
const LINE_WIDTH: f64 = 1.6;
/// Width of the outline that separates a curve from the background, in CSS pixels.
const RIM_WIDTH: f64 = 3.0;
/// Minimum height of a gap that gets a label, in CSS pixels.
const MIN_LABELED_GAP: f64 = 13.0;
/// Length of a gap's marks to the left of the axis, in CSS pixels.
const GAP_MARK: f64 = 7.0;
/// Distance between the lines over paused memory, in CSS pixels.
const HATCH_GAP: f64 = 7.0;
/// Minimum height of a gap that is drawn, in CSS pixels.
const MIN_GAP: f64 = 3.0;

impl Pen<'_> {
    /// Draws the title of the vertical axis at the top left of the picture.
    pub(super) fn height_title(&mut self) {
        let figure = self.figure;
        let at = [self.left - 9.0 * self.scale, self.top + FONT_SIZE * self.scale * TOP_TO_BASELINE + self.scale];
        self.text(figure.title.to_owned(), at, Anchor::End, Tint::Strong, FontStyle::Plain);
    }

    /// Draws the gaps of the address axis: bands with dashed edges for ranges without mapped memory, with their sizes.
    pub(super) fn gaps(&mut self) {
        let (figure, scale, hair, font) = (self.figure, self.scale, self.hairline(), FONT_SIZE * self.scale);
        let right = self.left + figure.plot_px[0];
        for gap in &figure.gaps {
            let [low, high] = gap.y.map(|y| self.bottom - y.clamp(0.0, figure.plot_px[1]));
            let (top, bottom) = (high.round(), low.round());
            if bottom - top < MIN_GAP * scale {
                // The background between the blocks is enough. Many dashed lines would form a pattern of their own.
                continue;
            }
            self.bar([self.left, right], [top, bottom], Tint::Line, 0.55);
            for y in [top, bottom - hair] {
                let (x, y) = ([self.left - GAP_MARK * scale, right], [y, y + hair]);
                self.shapes.push(Shape::Dashes { x, y, dash: 3.0 * scale, tint: Tint::Muted, opacity: 0.6 });
            }
            if bottom - top >= MIN_LABELED_GAP * scale && width(&gap.text, font) < figure.plot_px[0] {
                let at = [right - 8.0 * scale, top.midpoint(bottom) + font * MIDDLE_TO_BASELINE];
                self.text(gap.text.clone(), at, Anchor::End, Tint::Muted, FontStyle::Outlined);
            }
        }
    }

    /// Hatches the paused part of the reserved memory, and labels it once.
    pub(super) fn paused(&mut self) {
        let (figure, scale, font) = (self.figure, self.scale, FONT_SIZE * self.scale);
        let (lane, x) = (self.lane(), [self.left, self.left + figure.plot_px[0]]);
        let bands = figure.paused.iter().filter_map(|band| {
            let band = Band { x: band.x.map(|x| self.left + x), y: [self.bottom - band.y[1], self.bottom - band.y[0]] };
            band.clipped(x, lane)
        });
        let bands: Vec<Band> = bands.collect();
        for points in bands.iter().flat_map(|band| band.hatching(HATCH_GAP * scale)) {
            let (points, dash) = (points.to_vec(), Vec::new());
            self.shapes.push(Shape::Line { points, dash, thick: scale, tint: Tint::Strong });
        }
        let widest = bands.iter().max_by(|a, b| (a.x[1] - a.x[0]).total_cmp(&(b.x[1] - b.x[0])));
        if let Some(band) = widest.filter(|band| width(PAUSED, font) < band.x[1] - band.x[0]) {
            let at = [band.x[0].midpoint(band.x[1]), band.y[0].midpoint(band.y[1]) + font * MIDDLE_TO_BASELINE];
            self.text(PAUSED.to_owned(), at, Anchor::Middle, Tint::Strong, FontStyle::Outlined);
        }
    }

    /// Draws the curves. The legend of the picture identifies them.
    pub(super) fn curves(&mut self) {
        let (figure, scale) = (self.figure, self.scale);
        if figure.curves.is_empty() {
            return;
        }
        for curve in &figure.curves {
            for points in self.visible_parts(curve) {
                let line = |tint, thick: f64, dash: &[f64]| Shape::Line {
                    points: points.clone(),
                    dash: dash.iter().map(|part| part * scale).collect(),
                    thick: thick * scale,
                    tint,
                };
                let lines =
                    [line(Tint::Ground, RIM_WIDTH, &[]), line(curve.line.tint(), LINE_WIDTH, curve.line.dash())];
                self.shapes.extend(lines);
            }
            self.mark(curve);
        }
        if figure.right_axis_px > 0.0 {
            self.share_axis();
        }
    }

    /// Draws the labelled point of a curve as a square, with the label beside it.
    fn mark(&mut self, curve: &Curve) {
        let (scale, tint) = (self.scale, curve.line.tint());
        let Some(mark) = curve.label.as_ref().filter(|mark| (0.0..=self.figure.plot_px[0]).contains(&mark.at[0]))
        else {
            return;
        };
        let [x, y] = [self.left + mark.at[0], self.bottom - mark.at[1]];
        let [top, bottom] = self.lane();
        if !(top..=bottom).contains(&y) {
            return;
        }
        for (half, thickness) in [(4.0, RIM_WIDTH), (3.0, LINE_WIDTH)] {
            let tint = if thickness == RIM_WIDTH { Tint::Ground } else { tint };
            self.bar([x - half * scale, x + half * scale], [y - half * scale, y + half * scale], tint, 1.0);
        }
        // Below the labels of the crosshair.
        let baseline = (y - 6.0 * scale).max(top + (CHIP_AREA + 2.0) * scale + FONT_SIZE * scale * TOP_TO_BASELINE);
        self.label_beside(&mark.text, mark.at[0], 9.0 * scale, baseline, tint);
    }

    /// Returns the parts of a curve inside the lane (the device's strip of the picture), cut off at the lane's edges.
    fn visible_parts(&self, curve: &Curve) -> Vec<Vec<[f64; 2]>> {
        let ([top, bottom], [left, right]) = (self.lane(), [self.left, self.left + self.figure.plot_px[0]]);
        let mut parts: Vec<Vec<[f64; 2]>> = Vec::new();
        let mut previous_y: Option<f64> = None;
        for piece in curve.points.chunks_exact(2) {
            let &[[from, height], [to, _]] = piece else { continue };
            let y = self.bottom - height;
            let (y_in, inside) = (y.clamp(top, bottom), (top..=bottom).contains(&y));
            let [from, to] = [from, to].map(|x| (self.left + x).clamp(left, right));
            let was_inside = previous_y.is_some_and(|previous_y| (top..=bottom).contains(&previous_y));
            if !was_inside {
                // The curve enters through the edge where it left.
                parts.push(
                    previous_y
                        .filter(|_| inside)
                        .map(|previous_y| [from, previous_y.clamp(top, bottom)])
                        .into_iter()
                        .collect(),
                );
            }
            if let Some(part) = parts.last_mut().filter(|_| inside || was_inside) {
                part.push([from, y_in]);
                if inside {
                    part.push([to, y_in]);
                }
            }
            previous_y = Some(y);
        }
        parts.retain(|part| part.len() > 1);
        parts
    }

    /// Draws an axis from 0 to 100 % to the right of the picture.
    fn share_axis(&mut self) {
        let (scale, hair, font) = (self.scale, self.hairline(), FONT_SIZE * self.scale);
        let right = self.left + self.figure.plot_px[0];
        let [top, bottom] = self.lane();
        for part in [0u32, 25, 50, 75, 100] {
            let y = (bottom - (bottom - top) * f64::from(part) / 100.0).round();
            self.bar([right, right + 5.0 * scale], [y - hair, y], Tint::Peak, 0.8);
            let label_y = y.clamp(top + font * 0.6, bottom - font * 0.4);
            let label = [&part.to_string(), " %"].concat();
            self.text(
                label,
                [right + 8.0 * scale, label_y + font * MIDDLE_TO_BASELINE],
                Anchor::Start,
                Tint::Peak,
                FontStyle::Plain,
            );
        }
    }
}
