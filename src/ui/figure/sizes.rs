//! Sizes of the letters around the picture.

/// CSS pixels: the font of labels, the marks of an axis, what lies between them and a label, the bar of a life.
pub(super) const FONT: f64 = 11.0;

/// From a line's top, or from its middle, to its baseline, in parts of the font's size.
pub(super) const TOP: f64 = 0.9;

pub(super) const HALF: f64 = 0.36;
