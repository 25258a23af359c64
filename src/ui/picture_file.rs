//! A picture on its way to a file: all that goes into it, and what kind of file it becomes.

use engine::protocol::Looks;
use picture::outline::Rect;
use picture::shapes::Sheet;
use picture::svg::Drawing;
use picture::timeline::{Scene, View};
use std::collections::BTreeSet;
use std::rc::Rc;

/// What file it becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Pixels, as many as on the screen.
    Png1,
    /// Twice as many across and down.
    Png2,
    /// Four times as many.
    Png4,
    /// Rectangles.
    Svg,
}

impl Format {
    /// Pixels to a pixel of the screen.
    pub fn times(self) -> u32 {
        match self {
            Format::Png1 | Format::Svg => 1,
            Format::Png2 => 2,
            Format::Png4 => 4,
        }
    }

    /// The ending of its name, with the dot.
    pub fn ending(self) -> &'static str {
        if self == Format::Svg { ".svg" } else { ".png" }
    }
}

/// A picture, complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// What it becomes.
    pub format: Format,
    /// Its file's name.
    pub file: String,
    /// What stands around it.
    pub sheet: Sheet,
    /// The window.
    pub view: View,
    /// Its geometry, which may reach beyond the window.
    pub scene: Rc<Scene>,
    /// What its colours tell.
    pub looks: Looks,
    /// Which slots of the palette are faded.
    pub faded: BTreeSet<u32>,
    /// The outline of the selection, in pixels of the window.
    pub outline: Vec<Rect>,
}

impl Picture {
    /// What of it is drawn.
    pub fn drawing(&self) -> Drawing<'_> {
        Drawing { sheet: &self.sheet, view: &self.view, scene: &self.scene, outline: &self.outline }
    }
}
