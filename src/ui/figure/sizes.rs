//! Text sizes and distances around the picture.

/// Font size of labels, in CSS pixels.
pub(super) const FONT_SIZE: f64 = 11.0;

/// Distance from the top of a line (`TOP`) or its middle (`HALF`) to its baseline, as a fraction of the font size.
pub(super) const TOP_TO_BASELINE: f64 = 0.9;

pub(super) const MIDDLE_TO_BASELINE: f64 = 0.36;

/// Height reserved at the top of the picture for the chips of cursor and crosshair, in CSS pixels. Labels of marks go
/// below.
pub(super) const CHIP_AREA: f64 = 20.0;

/// Distance from the top to the number of a marker, in CSS pixels: below the chips and the first mark.
pub(super) const MARKER_TOP: f64 = 38.0;
