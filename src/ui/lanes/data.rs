//! Which devices are shown above each other, and the windows of those without the focus.

use crate::effect::Pointer;
use crate::shown::Geometry;
use engine::protocol::DeviceSummary;
use picture::timeline::View;

/// What there is of the lanes besides the focused one.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// Whether there is more than one, where the file has more devices.
    pub arrangement: LaneLayout,
    pub(crate) first: usize,
    pub(crate) others: Vec<Lane>,
    /// The device whose geometry was asked for last.
    pub(crate) turn: usize,
    /// Where the pointer is over the canvas, whatever is there. [`crate::shared::Shared::pointer`] is where it is in the focused lane's window.
    pub pointer: Option<Pointer>,
    /// The device that the pointer was over last: what a drag moves up and down.
    pub(crate) pointed: Option<usize>,
}

impl Lanes {
    /// Forgets everything about a file.
    pub(crate) fn forget(&mut self) {
        *self = Lanes { arrangement: self.arrangement, pointer: self.pointer, ..Lanes::default() };
    }
}

/// A lane without the focus.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    /// The device, by its place in the summary's list.
    pub(crate) place: usize,
    pub(crate) view: Option<View>,
    pub(crate) geometry: Geometry,
}

/// Whether devices are shown one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LaneLayout {
    /// One at a time.
    #[default]
    Alone,
    Together,
}

/// A lane as it is shown.
#[derive(Clone, Copy, Debug)]
pub struct ShownLane<'a> {
    /// The device, by its place in the summary's list.
    pub place: usize,
    pub device: &'a DeviceSummary,
    /// Its window, as high as the lane.
    pub view: &'a View,
    pub geometry: &'a Geometry,
    /// The canvas' row, counted upwards, at which the lane begins.
    pub bottom_px: u32,
}
