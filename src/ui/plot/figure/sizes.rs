//! Text sizes and distances around the picture.

/// Font size of labels, in CSS pixels.
pub(super) const FONT_SIZE: f64 = 11.0;

/// Distance from the top of a line of text to its baseline, as a fraction of the font size.
pub(super) const TOP_TO_BASELINE: f64 = 0.9;

/// Distance from the middle of a line of text to its baseline, as a fraction of the font size.
pub(super) const MIDDLE_TO_BASELINE: f64 = 0.36;

/// Height reserved at the top of the picture for the labels of cursor and crosshair, in CSS pixels. Labels of marks go
/// below.
pub(super) const CHIP_AREA: f64 = 20.0;

/// Distance from the top of the picture to the number of a marker, in CSS pixels. Leaves space for the labels of cursor
/// and crosshair and for one mark.
pub(super) const MARKER_TOP: f64 = 38.0;
