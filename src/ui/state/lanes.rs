//! State of the lanes: the layout, and the windows of lanes that are not focused.

use crate::state::drawing::Geometry;
use crate::state::effect::Pointer;
use picture::timeline::View;
use protocol::DeviceSummary;

/// State of the lanes, except for the window and the scene of the focused lane.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    pub layout: LaneLayout,
    /// Index of the device in the top lane.
    pub(crate) top_device: usize,
    /// True if the time axis was chosen because all devices were shown, so that it ends with that.
    pub(crate) switched_axis: bool,
    /// Lanes that are not focused.
    pub(crate) others: Vec<Lane>,
    /// Index of the device whose scene was requested last.
    pub(crate) last_requested: usize,
    /// Pointer position on the canvas. [`crate::state::shared::Shared::pointer`] is its position in the focused lane's window.
    pub pointer: Option<Pointer>,
    /// Index of the device that the pointer hovered last. Dragging pans this device vertically.
    pub(crate) hovered: Option<usize>,
}

impl Lanes {
    /// Discards the state of the previous file. The layout and the pointer are kept.
    pub(crate) fn reset(&mut self) {
        *self = Lanes { layout: self.layout, pointer: self.pointer, ..Lanes::default() };
    }
}

/// A lane that is not focused.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    /// Index of the device in the summary's list.
    pub(crate) index: usize,
    pub(crate) view: Option<View>,
    pub(crate) geometry: Geometry,
}

/// Layout of the lanes: one device, or all devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LaneLayout {
    /// One device is shown at a time.
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
    /// Window of the lane. It is as high as the lane.
    pub view: &'a View,
    pub geometry: &'a Geometry,
    /// Distance from the bottom of the canvas to the lane, in device pixels.
    pub bottom_px: u32,
}
