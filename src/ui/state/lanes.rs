//! State of the lanes: the layout, and the window and the scene of each lane.

use crate::state::drawing::Geometry;
use crate::state::effect::Pointer;
use picture::timeline::View;
use protocol::DeviceSummary;

/// State of the lanes. [`crate::state::shared::Shared::device_index`] is the index of the focused lane.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    pub layout: LaneLayout,
    /// Index of the device in the top lane.
    pub(crate) top_device: usize,
    /// True if the time axis was chosen because all devices were shown, so that it ends with that.
    pub(crate) switched_axis: bool,
    /// Lanes by the indices of their devices in the summary. A lane that is not shown is empty, or missing at the end.
    list: Vec<Lane>,
    /// Index of the device whose scene was requested last.
    pub(crate) last_requested: usize,
    /// Pointer position on the canvas. [`crate::state::shared::Shared::pointer`] is its position in the focused lane's
    /// window.
    pub pointer: Option<Pointer>,
    /// Index of the device that the pointer hovered last. Dragging pans this device vertically.
    pub(crate) hovered: Option<usize>,
}

impl Lanes {
    /// Discards the state of the previous file. The layout and the pointer are kept.
    pub(crate) fn reset(&mut self) {
        *self = Lanes { layout: self.layout, pointer: self.pointer, ..Lanes::default() };
    }

    /// Returns the lane of the device at `index`. `None` if it was never shown.
    pub(crate) fn get(&self, index: usize) -> Option<&Lane> {
        self.list.get(index)
    }

    /// Returns the lane of the device at `index`, which is empty if it was never shown.
    pub(crate) fn get_mut(&mut self, index: usize) -> &mut Lane {
        if self.list.len() <= index {
            self.list.resize_with(index + 1, Lane::default);
        }
        &mut self.list[index]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Lane> {
        self.list.iter()
    }

    /// Iterates over the lanes with the indices of their devices.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut Lane)> {
        self.list.iter_mut().enumerate()
    }

    /// Empties the lanes of the devices for which `keep` returns false.
    pub(crate) fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        self.iter_mut().filter(|(index, _)| !keep(*index)).for_each(|(_, lane)| *lane = Lane::default());
    }
}

/// The timeline of a device.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    /// Visible window, as high as the lane. `None` without a device or a canvas, and if the lane is not shown.
    pub view: Option<View>,
    /// Scene, and the pending request for the next scene.
    pub geometry: Geometry,
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
