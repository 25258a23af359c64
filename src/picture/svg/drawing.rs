//! Input of the SVG writer.

use crate::outline::Rect;
use crate::shapes::Sheet;
use crate::timeline::{Scene, View};

/// CSS colours of the shapes around a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inks<'a> {
    pub soft: &'a str,
    pub strong: &'a str,
    pub line: &'a str,
    pub peak: &'a str,
    pub accent: &'a str,
}

impl Inks<'static> {
    /// Colours of the page's light theme.
    pub const LIGHT: Inks<'static> =
        Inks { soft: "#5a6573", strong: "#171b21", line: "#dfe3e8", peak: "#d13438", accent: "#1f62c9" };
    /// Colours of the page's dark theme.
    pub const DARK: Inks<'static> =
        Inks { soft: "#95a1b0", strong: "#e5e9ef", line: "#232a34", peak: "#ff7b72", accent: "#74a9fa" };
}

/// A scene, and the sheet that it is drawn on.
#[derive(Clone, Copy, Debug)]
pub struct Drawing<'a> {
    pub sheet: &'a Sheet,
    pub view: &'a View,
    /// Geometry of the picture. It may extend beyond the window.
    pub scene: &'a Scene,
    /// Outline of the selection, in pixels of the window.
    pub outline: &'a [Rect],
}
