//! Shapes of a sheet as SVG elements.

use super::drawing::Inks;
use super::markup::{Markup, colour};
use crate::render::PictureTheme;
use crate::shapes::{Anchor, FontStyle, Shape, Text, Tint};
use crate::timeline::paint::SHADES;
use std::fmt;

/// CSS font families of code.
const MONO: &str = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";

/// Writes the shapes, back to front.
pub(super) fn write(
    markup: &mut Markup<'_>,
    shapes: &[Shape],
    theme: &PictureTheme,
    inks: &Inks<'_>,
    ground: &str,
) -> fmt::Result {
    for shape in shapes {
        match shape {
            Shape::Bar { x, y, tint, opacity } => {
                markup.start_tag("rect")?;
                markup.number("x", x[0])?;
                markup.number("y", y[0])?;
                markup.number("width", (x[1] - x[0]).max(0.0))?;
                markup.number("height", (y[1] - y[0]).max(0.0))?;
                fill(markup, "fill", *tint, theme, inks)?;
                if *opacity < 1.0 {
                    markup.number("fill-opacity", *opacity)?;
                }
                markup.finish_element()?;
            }
            Shape::Dashes { x, y, dash, tint, opacity } => {
                markup.start_tag("line")?;
                let middle = (y[0] + y[1]) / 2.0;
                for (name, value) in [("x1", x[0]), ("y1", middle), ("x2", x[1]), ("y2", middle)] {
                    markup.number(name, value)?;
                }
                fill(markup, "stroke", *tint, theme, inks)?;
                markup.number("stroke-width", y[1] - y[0])?;
                markup.number("stroke-dasharray", *dash)?;
                markup.number("stroke-opacity", *opacity)?;
                markup.finish_element()?;
            }
            Shape::Triangle { corners, tint } => {
                markup.start_tag("polygon")?;
                markup.numbers("points", corners.as_flattened())?;
                fill(markup, "fill", *tint, theme, inks)?;
                markup.finish_element()?;
            }
            Shape::Line { points, dash, thick, tint } => {
                markup.start_tag("polyline")?;
                markup.numbers("points", points.as_flattened())?;
                markup.attribute("fill", "none")?;
                fill(markup, "stroke", *tint, theme, inks)?;
                markup.number("stroke-width", *thick)?;
                if !dash.is_empty() {
                    markup.numbers("stroke-dasharray", dash)?;
                }
                markup.finish_element()?;
            }
            Shape::Text(text) => self::text(markup, text, theme, inks, ground)?,
        }
    }
    Ok(())
}

fn text(markup: &mut Markup<'_>, text: &Text, theme: &PictureTheme, inks: &Inks<'_>, ground: &str) -> fmt::Result {
    markup.start_tag("text")?;
    markup.number("x", text.at[0])?;
    markup.number("y", text.at[1])?;
    markup.number("font-size", text.size)?;
    fill(markup, "fill", text.tint, theme, inks)?;
    match text.anchor {
        Anchor::Start => {}
        Anchor::Middle => markup.attribute("text-anchor", "middle")?,
        Anchor::End => markup.attribute("text-anchor", "end")?,
    }
    match text.style {
        FontStyle::Plain => {}
        FontStyle::Bold => markup.attribute("font-weight", "600")?,
        FontStyle::Mono => markup.attribute("font-family", MONO)?,
        FontStyle::Outlined => {
            markup.attribute("stroke", ground)?;
            markup.number("stroke-width", text.size * 0.27)?;
            markup.attribute("stroke-linejoin", "round")?;
            markup.attribute("paint-order", "stroke")?;
        }
    }
    markup.finish_tag()?;
    markup.text(&text.text)?;
    markup.end_tag("text")
}

fn fill(markup: &mut Markup<'_>, name: &str, tint: Tint, theme: &PictureTheme, inks: &Inks<'_>) -> fmt::Result {
    let painted = match tint {
        Tint::Muted => return markup.attribute(name, inks.soft),
        Tint::Strong => return markup.attribute(name, inks.strong),
        Tint::Ground => theme.background,
        Tint::Line => return markup.attribute(name, inks.line),
        Tint::Peak => return markup.attribute(name, inks.peak),
        Tint::Accent => return markup.attribute(name, inks.accent),
        Tint::Reserved => theme.reserved_fill,
        Tint::ReservedEdge => theme.reserved_edge,
        Tint::Allocated => theme.allocated,
        Tint::Slot(slot) => theme.palette.get((slot * SHADES) as usize).copied().unwrap_or_default(),
    };
    markup.attribute(name, &colour(painted))
}
