//! Markers on the picture.

use crate::tools::Point;
use engine::protocol::Plot;

/// Markers of a file; more would hide what they mark.
pub(crate) const MOST: usize = 50;

/// The markers of an open file.
#[derive(Clone, Debug, Default)]
pub struct Markers {
    pub all: Vec<Marker>,
    pub(crate) last: u32,
}

impl Markers {
    /// Whether there may be another one.
    pub(crate) fn has_room(&self) -> bool {
        self.all.len() < MOST
    }

    /// Adds one.
    pub(crate) fn put(&mut self, device: i64, point: Point, plot: Plot) {
        self.last += 1;
        self.all.push(Marker { number: self.last, device, point, plot });
    }
}

/// One marker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marker {
    /// Its number: never given twice.
    pub number: u32,
    /// The ordinal of the device whose memory it marks.
    pub device: i64,
    /// Where.
    pub point: Point,
    /// The plot that its height is one of.
    pub plot: Plot,
}
