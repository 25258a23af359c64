//! What is drawn, and in which colours what stands around it.

use crate::outline::Rect;
use crate::shapes::Sheet;
use crate::timeline::{Scene, View};

/// The colours of what stands around the picture, as CSS writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inks<'a> {
    pub soft: &'a str,
    pub strong: &'a str,
    pub line: &'a str,
    pub peak: &'a str,
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
    pub sheet: &'a Sheet,
    pub view: &'a View,
    /// Its geometry, which may reach beyond the window.
    pub scene: &'a Scene,
    /// The outline of the selection, in pixels of the window.
    pub outline: &'a [Rect],
}
