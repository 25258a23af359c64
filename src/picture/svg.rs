//! A picture → SVG: rectangles of whole pixels, one path a colour, and the figure around them as text. Nothing in it runs, nothing in
//! it is fetched.

mod layers;
mod markup;
mod shapes;

use crate::outline::Rect;
use crate::render::Look;
use crate::shapes::Sheet;
use crate::timeline::{Scene, View};
use markup::Markup;
use std::fmt;

/// The families of text, and of code.
const SANS: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif";
const MONO: &str = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";

/// The colours of what stands around the picture, as CSS writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inks<'a> {
    /// Of labels.
    pub soft: &'a str,
    /// Of text that is read.
    pub strong: &'a str,
    /// Of frames.
    pub line: &'a str,
    /// Of the peak's mark.
    pub peak: &'a str,
    /// Of selection and annotations.
    pub accent: &'a str,
}

impl Inks<'static> {
    /// Those of the page's light theme.
    pub const LIGHT: Inks<'static> =
        Inks { soft: "#5a6573", strong: "#171b21", line: "#dfe3e8", peak: "#d13438", accent: "#1f62c9" };
    /// Those of its dark theme.
    pub const DARK: Inks<'static> =
        Inks { soft: "#95a1b0", strong: "#e5e9ef", line: "#232a34", peak: "#ff7b72", accent: "#74a9fa" };
}

/// What is drawn: a scene, and the sheet it stands on.
#[derive(Clone, Copy, Debug)]
pub struct Drawing<'a> {
    /// What stands around the scene.
    pub sheet: &'a Sheet,
    /// The window.
    pub view: &'a View,
    /// Its geometry, which may reach beyond the window.
    pub scene: &'a Scene,
    /// The outline of the selection, in pixels of the window.
    pub outline: &'a [Rect],
}

/// Writes the picture as SVG; `look` has the palette that its colours are of, fading included.
///
/// A rectangle takes about 15 bytes, so 300,000 of them are a few MB.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut dyn fmt::Write, drawing: &Drawing<'_>, look: &Look, inks: &Inks<'_>) -> fmt::Result {
    let sheet = drawing.sheet;
    let [width, height] = sheet.size.map(f64::from);
    let ground = markup::colour(look.background);
    let mut markup = Markup::new(out);
    markup.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;
    markup.open("svg")?;
    markup.attribute("xmlns", "http://www.w3.org/2000/svg")?;
    markup.number("width", width / sheet.scale)?;
    markup.number("height", height / sheet.scale)?;
    markup.numbers("viewBox", &[0.0, 0.0, width, height])?;
    markup.attribute("font-family", SANS)?;
    markup.attribute("style", "font-variant-numeric:tabular-nums")?;
    markup.end_of_tag()?;
    markup.open("title")?;
    markup.end_of_tag()?;
    markup.text(&sheet.title)?;
    markup.close("title")?;
    markup.open("rect")?;
    markup.number("width", width)?;
    markup.number("height", height)?;
    markup.attribute("fill", &ground)?;
    markup.end_of_element()?;
    layers::write(&mut markup, drawing, look)?;
    shapes::write(&mut markup, &sheet.shapes, look, inks, &ground)?;
    markup.close("svg")
}
