//! Drawing of a figure's shapes on a 2D canvas.

use super::theme::Theme;
use picture::render::PictureTheme;
use picture::shapes::{Anchor, FontStyle, Shape, Text, Tint};
use picture::timeline::paint::SHADES;
use web_sys::CanvasRenderingContext2d;

/// Draws shapes, back to front. `look` contains the palette that [`Tint::Slot`] indexes.
pub(super) fn draw_shapes(context: &CanvasRenderingContext2d, shapes: &[Shape], theme: &Theme, look: &PictureTheme) {
    for shape in shapes {
        let bar = |x: [f64; 2], y: [f64; 2]| context.fill_rect(x[0], y[0], x[1] - x[0], y[1] - y[0]);
        match shape {
            Shape::Bar { x, y, tint, opacity } => {
                set_tint(context, theme, look, *tint, *opacity);
                bar(*x, *y);
            }
            Shape::Dashes { x: [left, right], y, dash, tint, opacity } => {
                set_tint(context, theme, look, *tint, *opacity);
                let mut at = *left;
                while at < *right && *dash > 0.0 {
                    bar([at, (at + dash).min(*right)], *y);
                    at += 2.0 * dash;
                }
            }
            Shape::Triangle { corners: [a, b, c], tint } => {
                set_tint(context, theme, look, *tint, 1.0);
                context.begin_path();
                context.move_to(a[0], a[1]);
                context.line_to(b[0], b[1]);
                context.line_to(c[0], c[1]);
                context.fill();
            }
            Shape::Line { points, dash, thick, tint } => {
                set_tint(context, theme, look, *tint, 1.0);
                context.set_line_width(*thick);
                let dash: js_sys::Array = dash.iter().map(|part| wasm_bindgen::JsValue::from_f64(*part)).collect();
                // Cannot fail for a list of numbers.
                let _ = context.set_line_dash(&dash);
                context.begin_path();
                points.iter().for_each(|[x, y]| context.line_to(*x, *y));
                context.stroke();
                let _ = context.set_line_dash(&js_sys::Array::new());
            }
            Shape::Text(text) => draw_text(context, text, theme, look),
        }
    }
    context.set_global_alpha(1.0);
}

fn draw_text(context: &CanvasRenderingContext2d, text: &Text, theme: &Theme, look: &PictureTheme) {
    set_tint(context, theme, look, text.tint, 1.0);
    let family = if text.style == FontStyle::Mono { &theme.mono } else { &theme.font };
    let weight = if text.style == FontStyle::Bold { "600 " } else { "" };
    // Always set, because reading the current font costs more, and most texts of a figure share one font.
    let font = [weight, &text.size.to_string(), "px ", family].concat();
    context.set_font(&font);
    context.set_text_align(match text.anchor {
        Anchor::Start => "left",
        Anchor::Middle => "center",
        Anchor::End => "right",
    });
    let [x, y] = text.at;
    if text.style == FontStyle::Outlined {
        context.set_stroke_style_str(&theme.ground);
        context.set_line_width(text.size * 0.27);
        let _ = context.stroke_text(&text.text, x, y);
    }
    // Cannot fail for a string.
    let _ = context.fill_text(&text.text, x, y);
}

fn set_tint(context: &CanvasRenderingContext2d, theme: &Theme, look: &PictureTheme, tint: Tint, opacity: f64) {
    let painted;
    let colour = match tint {
        Tint::Muted => &theme.text,
        Tint::Strong => &theme.strong,
        Tint::Ground => &theme.ground,
        Tint::Line => &theme.line,
        Tint::Peak => &theme.peak,
        Tint::Accent => &theme.accent,
        Tint::Reserved => {
            painted = css(look.reserved_fill);
            &painted
        }
        Tint::ReservedEdge => {
            painted = css(look.reserved_edge);
            &painted
        }
        Tint::Allocated => {
            painted = css(look.allocated);
            &painted
        }
        Tint::Slot(slot) => {
            painted = css(look.palette.get((slot * SHADES) as usize).copied().unwrap_or_default());
            &painted
        }
    };
    context.set_fill_style_str(colour);
    context.set_stroke_style_str(colour);
    context.set_global_alpha(opacity);
}

/// Formats an opaque colour for CSS.
pub(super) fn css([red, green, blue, _]: [u8; 4]) -> String {
    format!("rgb({red} {green} {blue})")
}
