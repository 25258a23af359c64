//! Marks and annotations on the canvas of the labels.

use super::labels::Pen;
use crate::ui::marks::Around;

/// CSS pixels: height of a lane, and of the axis' own labels above the first.
const LANE: f64 = 16.0;
const BELOW_AXIS: f64 = 24.0;
/// CSS pixels a name needs to be written at all.
const NAME: f64 = 24.0;

/// Draws them.
pub(super) fn draw(pen: &Pen<'_>, around: &Around) {
    let (context, scale) = (&pen.context, pen.scale);
    let line = |x: f64, colour: &str, alpha: f64, width: f64| {
        context.set_fill_style_str(colour);
        context.set_global_alpha(alpha);
        context.fill_rect(
            (pen.left + x - width / 2.0).round(),
            pen.lane.0,
            width.round().max(1.0),
            pen.lane.1 - pen.lane.0,
        );
        context.set_global_alpha(1.0);
    };
    if let Some(x) = around.recording.filter(|&x| x > 0.0) {
        line(x, &pen.theme.text, 0.35, scale);
    }
    for &x in &around.snapshots {
        line(x, &pen.theme.accent, 0.7, scale);
    }
    context.set_text_baseline("top");
    for (x, text) in &around.out_of_memory {
        line(*x, &pen.theme.peak, 0.9, 2.0 * scale);
        let on_the_left = *x > pen.plot.0 / 2.0;
        context.set_text_align(if on_the_left { "right" } else { "left" });
        let at = pen.left + x + if on_the_left { -6.0 } else { 6.0 } * scale;
        context.set_stroke_style_str(&pen.theme.ground);
        context.set_line_width(3.0 * scale);
        let _ = context.stroke_text(text, at, pen.lane.0 + 6.0 * scale);
        context.set_fill_style_str(&pen.theme.peak);
        pen.text(text, at, pen.lane.0 + 6.0 * scale);
    }
    context.set_text_align("left");
    context.set_text_baseline("middle");
    for range in &around.ranges {
        let top = pen.plot.1 + (BELOW_AXIS + f64::from(range.lane) * LANE) * scale;
        let (left, right) = (pen.left + range.x[0], pen.left + range.x[1]);
        let height = (LANE - 2.0) * scale;
        context.set_fill_style_str(&pen.theme.accent);
        context.set_global_alpha(0.22);
        context.fill_rect(left, top, right - left, height);
        context.set_global_alpha(0.8);
        context.fill_rect(left, top, scale.max(1.0), height);
        if range.ended {
            context.fill_rect(right - scale.max(1.0), top, scale.max(1.0), height);
        }
        context.set_global_alpha(1.0);
        if right - left > NAME * scale {
            context.save();
            context.begin_path();
            context.rect(left, top, right - left - 2.0 * scale, height);
            context.clip();
            context.set_fill_style_str(&pen.theme.strong);
            pen.text(&range.name, left + 5.0 * scale, top + height / 2.0);
            context.restore();
        }
    }
}
