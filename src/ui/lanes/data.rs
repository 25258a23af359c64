//! State of the lanes: which devices are shown, and the windows of those without the focus.

use crate::drawing::Geometry;
use crate::effect::Pointer;
use engine::protocol::DeviceSummary;
use picture::timeline::View;

/// The lanes except the focused one.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    pub layout: LaneLayout,
    /// Index of the device in the top lane.
    pub(crate) top_device: usize,
    /// Lanes without the focus.
    pub(crate) others: Vec<Lane>,
    /// Device whose scene was requested last.
    pub(crate) last_requested: usize,
    /// Pointer position on the canvas. [`crate::shared::Shared::pointer`] is its position in the focused lane's window.
    pub pointer: Option<Pointer>,
    /// Device that the pointer was over last. A drag pans it vertically.
    pub(crate) hovered: Option<usize>,
}

impl Lanes {
    /// Discards everything about the file. The layout and the pointer stay.
    pub(crate) fn reset(&mut self) {
        *self = Lanes { layout: self.layout, pointer: self.pointer, ..Lanes::default() };
    }
}

/// A lane without the focus.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    /// Index of the device in the summary's list.
    pub(crate) index: usize,
    pub(crate) view: Option<View>,
    pub(crate) geometry: Geometry,
}

/// Layout of the devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LaneLayout {
    /// One device at a time.
    #[default]
    Single,
    All,
}

/// A lane with its window and scene.
#[derive(Clone, Copy, Debug)]
pub struct ShownLane<'a> {
    /// Index of the device in the summary's list.
    pub index: usize,
    pub device: &'a DeviceSummary,
    /// Window of the lane, as high as the lane.
    pub view: &'a View,
    pub geometry: &'a Geometry,
    /// Lowest row of the lane on the canvas, counted upwards from the canvas's bottom.
    pub bottom_px: u32,
}
