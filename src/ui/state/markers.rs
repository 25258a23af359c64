//! State of the markers on the timeline.

use crate::state::point::Point;
use protocol::Plot;

/// Maximum number of markers per file. More would hide the timeline.
pub(crate) const MAX_MARKERS: usize = 50;

/// Markers of a file, and the number of the last added one.
#[derive(Clone, Debug, Default)]
pub struct Markers {
    pub all: Vec<Marker>,
    pub(crate) last_number: u32,
}

impl Markers {
    /// Returns whether another marker may be added.
    pub(crate) fn has_room(&self) -> bool {
        self.all.len() < MAX_MARKERS
    }

    /// Adds a marker with the next number.
    pub(crate) fn add(&mut self, device: i64, point: Point, plot: Plot) {
        self.last_number += 1;
        self.all.push(Marker { number: self.last_number, device, point, plot });
    }
}

/// A position in a plot that the user has marked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marker {
    /// Number shown on the marker. It is not reused while the file is open.
    pub number: u32,
    /// Ordinal of the device that the marker belongs to.
    pub device: i64,
    pub point: Point,
    /// Plot that the marker's height refers to, such as the stack plot.
    pub plot: Plot,
}
