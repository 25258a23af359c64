//! SVG output. Pixels are written as one path per colour, and the shapes around them as SVG elements. The file contains
//! no scripts and loads nothing.

mod drawing;
mod layers;
mod markup;
mod shapes;

use crate::render::PictureTheme;
pub use drawing::{Drawing, Inks};
use markup::Markup;
use std::fmt;

/// CSS font families of labels.
const SANS: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif";

/// Writes a picture as SVG, with the palette of `theme` and the colours `inks` of the shapes around it.
///
/// A rectangle takes about 15 bytes, so 300,000 of them are a few MB.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write(out: &mut dyn fmt::Write, drawing: &Drawing<'_>, theme: &PictureTheme, inks: &Inks<'_>) -> fmt::Result {
    let sheet = drawing.sheet;
    let [width, height] = sheet.size.map(f64::from);
    let ground = markup::colour(theme.background);
    let mut markup = Markup::new(out);
    markup.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;
    markup.start_tag("svg")?;
    markup.attribute("xmlns", "http://www.w3.org/2000/svg")?;
    markup.number("width", width / sheet.scale)?;
    markup.number("height", height / sheet.scale)?;
    markup.numbers("viewBox", &[0.0, 0.0, width, height])?;
    markup.attribute("font-family", SANS)?;
    markup.attribute("style", "font-variant-numeric:tabular-nums")?;
    markup.finish_tag()?;
    markup.start_tag("title")?;
    markup.finish_tag()?;
    markup.text(&sheet.title)?;
    markup.end_tag("title")?;
    markup.start_tag("rect")?;
    markup.number("width", width)?;
    markup.number("height", height)?;
    markup.attribute("fill", &ground)?;
    markup.finish_element()?;
    layers::write(&mut markup, drawing, theme)?;
    shapes::write(&mut markup, &sheet.shapes, theme, inks, &ground)?;
    markup.end_tag("svg")
}
