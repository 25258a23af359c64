//! A picture to export, and its file formats.

use picture::outline::Rect;
use picture::shapes::Sheet;
use picture::svg::Drawing;
use picture::timeline::{Scene, View};
use protocol::PlotSettings;
use std::collections::BTreeSet;
use std::rc::Rc;

base::listed! {
    /// Formats of an exported picture, in the order of the export dialog.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Format {
        /// PNG at the resolution of the screen.
        Png1,
        Png2,
        Png4,
        Svg,
    }
}

impl Format {
    /// Returns the keys, the title and the id of the button of the command that saves the picture in this format.
    pub(crate) const fn entry(self) -> (&'static [&'static str], &'static str, &'static str) {
        match self {
            Format::Png1 => (&["1"], "Save as PNG 1×", "export-png-1"),
            Format::Png2 => (&["2"], "Save as PNG 2×", "export-png-2"),
            Format::Png4 => (&["4"], "Save as PNG 4×", "export-png-4"),
            Format::Svg => (&["s"], "Save as SVG", "export-svg"),
        }
    }

    /// Returns the resolution as a multiple of the screen's resolution.
    pub fn scale(self) -> u32 {
        match self {
            Format::Png1 | Format::Svg => 1,
            Format::Png2 => 2,
            Format::Png4 => 4,
        }
    }

    /// Returns the id of the format's button. For raster formats, the button also shows the image size.
    pub fn control(self) -> &'static str {
        self.entry().2
    }

    /// Returns whether the format consists of pixels, unlike SVG.
    pub fn is_raster(self) -> bool {
        self.extension() == ".png"
    }

    /// Returns the file extension, including the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Png1 | Format::Png2 | Format::Png4 => ".png",
            Format::Svg => ".svg",
        }
    }
}

/// A picture to export, with all data that is needed to draw it.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub format: Format,
    pub file_name: String,
    pub sheet: Sheet,
    pub view: View,
    /// Geometry of the timeline. It may extend beyond the window.
    pub scene: Rc<Scene>,
    pub plot_settings: PlotSettings,
    /// Palette indices of the colours that are faded.
    pub faded: BTreeSet<u32>,
    /// Outline of the selected allocation, as rectangles in pixels of the window.
    pub outline: Vec<Rect>,
}

impl Picture {
    /// Returns the data for the SVG renderer.
    pub fn drawing(&self) -> Drawing<'_> {
        Drawing { sheet: &self.sheet, view: &self.view, scene: &self.scene, outline: &self.outline }
    }
}
