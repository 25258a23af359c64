//! Sizes of the letters around the picture.

/// CSS pixels: the font of labels, the marks of an axis, what lies between them and a label, the bar of a life.
pub(super) const FONT: f64 = 11.0;

/// From a line's top, or from its middle, to its baseline, in parts of the font's size.
pub(super) const TOP: f64 = 0.9;

pub(super) const HALF: f64 = 0.36;

/// CSS pixels at the top of the picture that are the chips': of the cursor and of the pointer. Marks are named below them.
pub(super) const CHIPS: f64 = 20.0;

/// CSS pixels from the top to the number of a marker: below the chips and the first mark.
pub(super) const FLAG: f64 = 38.0;
