//! A picture on its way to a file: all that goes into it, and what kind of file it becomes.

use super::binding::{Binding, Scope, line};
use engine::protocol::Looks;
use picture::outline::Rect;
use picture::shapes::Sheet;
use picture::svg::Drawing;
use picture::timeline::{Scene, View};
use std::collections::BTreeSet;
use std::rc::Rc;

base::listed! {
    /// What file it becomes, in the order of the dialog.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Format {
        /// Pixels, as many as on the screen.
        Png1,
        Png2,
        Png4,
        Svg,
    }
}

impl Format {
    /// Its key in the dialog, and its button.
    pub(crate) const fn binding(self) -> Binding<Format> {
        let (keys, label, control): (&[&str], _, _) = match self {
            Format::Png1 => (&["1"], "Save as PNG 1×", "export-png-1"),
            Format::Png2 => (&["2"], "Save as PNG 2×", "export-png-2"),
            Format::Png4 => (&["4"], "Save as PNG 4×", "export-png-4"),
            Format::Svg => (&["s"], "Save as SVG", "export-svg"),
        };
        line(Scope::Export, keys, self, label, control)
    }

    /// Pixels to a pixel of the screen.
    pub fn times(self) -> u32 {
        match self {
            Format::Png1 | Format::Svg => 1,
            Format::Png2 => 2,
            Format::Png4 => 4,
        }
    }

    /// The id of its button, which shows how large the picture becomes where it has pixels of its own.
    pub fn control(self) -> &'static str {
        self.binding().control
    }

    /// Whether it is made of pixels.
    pub fn has_pixels(self) -> bool {
        self.ending() == ".png"
    }

    /// The ending of its name, with the dot.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Png1 | Format::Png2 | Format::Png4 => ".png",
            Format::Svg => ".svg",
        }
    }
}

/// A picture, complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub format: Format,
    pub file: String,
    pub sheet: Sheet,
    pub view: View,
    /// Its geometry, which may reach beyond the window.
    pub scene: Rc<Scene>,
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
