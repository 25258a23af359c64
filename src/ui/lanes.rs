//! Lanes: several devices above each other on one horizontal axis.
//!
//! ```text
//!   ┌──────────────────────┐  device 0
//!   ├──────────────────────┤  device 1, focused: stored in Shared::view and Shared::geometry
//!   ├──────────────────────┤  device 2
//!   └──────────────────────┘
//! ```
//! Summary, details, legend and marks describe the focused device. [`Lanes`] holds a window and a scene for each of the
//! others. Horizontally, their windows follow the focused one. A single device has one lane that is as high as the
//! canvas.

mod data;

pub(crate) use data::Lane;
pub use data::{LaneLayout, Lanes, ShownLane};

use super::drawing::Canvas;
use super::effect::Pointer;
use super::navigate::Plane;
use super::shared::Shared;
use super::shared_axis::SharedAxis;
use protocol::DeviceSummary;

/// Minimum height of a lane, in CSS pixels. Devices that do not fit are shown when they are focused.
const MIN_LANE_PX: f64 = 48.0;

impl Shared {
    /// Returns the device at `index` in the summary's list of devices.
    pub fn device_at(&self, index: usize) -> Option<&DeviceSummary> {
        self.drawn_file()?.devices.get(index)
    }

    pub(super) fn device_count(&self) -> usize {
        self.drawn_file().map_or(0, |file| file.devices.len())
    }

    /// Returns whether several devices are shown.
    pub fn has_lanes(&self) -> bool {
        self.comparing.pair.is_some() || self.lanes.layout == LaneLayout::All && self.device_count() > 1
    }

    /// Returns the indices of the devices that have a lane, from top to bottom. In a comparison, these are the compared
    /// devices.
    pub fn lane_indices(&self) -> Vec<usize> {
        let (Some(canvas), true) = (self.canvas, self.has_lanes()) else { return vec![self.device_index] };
        if let Some(pair) = self.comparing.pair {
            return pair.to_vec();
        }
        let max_count = (f64::from(canvas.height_px) / canvas.scale / MIN_LANE_PX).floor() as usize;
        let count = max_count.clamp(1, self.device_count());
        let lowest_first = (self.device_index + 1).saturating_sub(count);
        let first = self.lanes.top_device.clamp(lowest_first, self.device_index).min(self.device_count() - count);
        (first..first + count).collect()
    }

    /// Returns the distance from the canvas's bottom to a device's lane, in device pixels, and the lane's size as a
    /// canvas of its own.
    pub(super) fn lane_canvas(&self, index: usize) -> Option<(u32, Canvas)> {
        let (canvas, indices) = (self.canvas?, self.lane_indices());
        let from_top = indices.iter().position(|of| *of == index)?;
        let edge = |lane: usize| (u64::from(canvas.height_px) * lane as u64 / indices.len() as u64) as u32;
        // Lanes are separated by a line.
        let line = if from_top > 0 { canvas.scale.round().max(1.0) as u32 } else { 0 };
        let (top, bottom) = (edge(from_top).saturating_add(line), edge(from_top + 1));
        let lane = Canvas { height_px: bottom.saturating_sub(top).max(1), ..canvas };
        Some((canvas.height_px - bottom, lane))
    }

    /// Iterates over the lanes that have a window, from top to bottom.
    pub fn shown_lanes(&self) -> impl Iterator<Item = ShownLane<'_>> {
        self.lane_indices().into_iter().filter_map(|index| {
            let (view, geometry) = if index == self.device_index {
                (self.view.as_ref()?, &self.geometry)
            } else {
                let lane = self.lanes.others.iter().find(|lane| lane.index == index)?;
                (lane.view.as_ref()?, &lane.geometry)
            };
            let (bottom_px, _) = self.lane_canvas(index)?;
            Some(ShownLane { index, device: self.device_at(index)?, view, geometry, bottom_px })
        })
    }

    /// Returns the focused lane, whose window is [`Shared::view`].
    pub fn focused_lane(&self) -> Option<ShownLane<'_>> {
        self.shown_lanes().find(|lane| lane.index == self.device_index)
    }

    /// Returns the lane at a position on the canvas, and that position in the lane's window.
    pub fn lane_at(&self, pointer: Pointer) -> Option<(ShownLane<'_>, Pointer)> {
        let lane = self.shown_lanes().find(|lane| f64::from(lane.bottom_px) <= pointer.y.max(0.0))?;
        Some((lane, Pointer { y: pointer.y - f64::from(lane.bottom_px), ..pointer }))
    }

    /// Returns the horizontal axis that the shown devices share. In a comparison, where each device has its own axis,
    /// returns the focused device's axis.
    pub fn shared_axis(&self) -> SharedAxis {
        if self.comparing.pair.is_some() {
            return SharedAxis::for_devices(self.device().into_iter(), self.axis);
        }
        let devices = self.drawn_file().map_or(&[][..], |file| &file.devices);
        let alone = self.device_index..self.device_index.saturating_add(1);
        let devices = if self.has_lanes() { Some(devices) } else { devices.get(alone) };
        SharedAxis::for_devices(devices.unwrap_or_default().iter(), self.axis)
    }

    /// Returns the horizontal axis of a device: the shared axis, or in a comparison, its own axis.
    pub(super) fn axis_of(&self, device: &DeviceSummary) -> SharedAxis {
        if self.comparing.pair.is_some() {
            return SharedAxis::for_devices(std::iter::once(device), self.axis);
        }
        self.shared_axis()
    }

    /// Returns the plane of a device, which is as wide as the device's axis and as high as its plot, including curves
    /// drawn above the stack.
    pub(super) fn plane_of(&self, device: &DeviceSummary) -> Plane {
        self.fit_plane_to_plot(self.axis_of(device).plane(device), device)
    }
}
