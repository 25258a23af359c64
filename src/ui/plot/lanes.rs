//! Lanes: several devices above each other on one horizontal axis.
//!
//! ```text
//!   ┌──────────────────────┐  device 0
//!   ├──────────────────────┤  device 1, focused: Shared::device_index
//!   ├──────────────────────┤  device 2
//!   └──────────────────────┘
//! ```
//! Summary, details, legend and marks describe the focused device. [`Lanes`] holds a window and a scene for each
//! device. Horizontally, the windows follow the focused one. A single device has one lane that is as high as the
//! canvas.
//!
//! A lane's window shows a part of its plane, which is as wide as the axis and as high as the plot.

pub use crate::state::lanes::{Lane, LaneLayout, Lanes, ShownLane};

use crate::plot::planned;
use crate::plot::shared_axis::SharedAxis;
use crate::state::drawing::{BytesAxis, Canvas, Geometry};
use crate::state::effect::Pointer;
use crate::state::line::{Line, MemoryPart};
use crate::state::navigate::Plane;
use crate::state::plots::{lookup, with_filter};
use crate::state::shared::Shared;
use picture::timeline::{Axis, View, time_axis_margin};
use protocol::{AddressMap, DeviceSummary, MemoryFilter, Plot};
use std::rc::Rc;

/// Minimum height of a lane, in CSS pixels. Devices that do not fit are shown when they are focused.
const MIN_LANE_PX: f64 = 48.0;

impl Shared {
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
    pub(crate) fn lane_canvas(&self, index: usize) -> Option<(u32, Canvas)> {
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
            let Lane { view, geometry } = self.lanes.get(index)?;
            let (bottom_px, _) = self.lane_canvas(index)?;
            Some(ShownLane { index, device: self.device_at(index)?, view: view.as_ref()?, geometry, bottom_px })
        })
    }

    /// Returns the focused lane. `None` until it has a window.
    pub fn focused_lane(&self) -> Option<ShownLane<'_>> {
        self.shown_lanes().find(|lane| lane.index == self.device_index)
    }

    /// Returns the lane at a position on the canvas, and that position in the lane's window.
    pub fn lane_at(&self, pointer: Pointer) -> Option<(ShownLane<'_>, Pointer)> {
        let lane = self.shown_lanes().find(|lane| f64::from(lane.bottom_px) <= pointer.y.max(0.0))?;
        Some((lane, Pointer { y: pointer.y - f64::from(lane.bottom_px), ..pointer }))
    }

    /// Discards all scenes. Used if scaling or moving them cannot approximate the new contents.
    pub(crate) fn drop_scenes(&mut self) {
        self.lanes.iter_mut().for_each(|(_, lane)| lane.geometry = Geometry::default());
    }

    /// Updates the pointer's position within the focused lane from its position on the canvas.
    pub(crate) fn update_pointer(&mut self) {
        let in_focused_lane = self.lanes.pointer.and_then(|pointer| self.lane_at(pointer));
        let in_focused_lane =
            in_focused_lane.filter(|(lane, _)| lane.index == self.device_index).map(|(_, pointer)| pointer);
        self.pointer = if self.has_lanes() { in_focused_lane } else { self.lanes.pointer };
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
    pub(crate) fn axis_of(&self, device: &DeviceSummary) -> SharedAxis {
        if self.comparing.pair.is_some() {
            return SharedAxis::for_devices(std::iter::once(device), self.axis);
        }
        self.shared_axis()
    }

    /// Returns the plane of a device, which is as wide as the device's axis and as high as its plot, including curves
    /// drawn above the stack.
    pub(crate) fn plane_of(&self, device: &DeviceSummary) -> Plane {
        self.fit_plane_to_plot(self.axis_of(device).plane(device), device)
    }

    /// Returns the plane of the shown device (of the focused device if several are shown).
    pub fn plane(&self) -> Option<Plane> {
        self.drawn_device().map(|device| self.plane_of(device))
    }

    /// Returns the position of an event on the horizontal axis. `None` if that is the time axis and the event has no
    /// timestamp.
    pub fn x_of(&self, event: u32, time_us: Option<i64>) -> Option<f64> {
        match self.axis {
            Axis::Events => Some(f64::from(event) + 1.0),
            Axis::Time => {
                let (first, last) = self.device()?.time_us?;
                let elapsed = time_us?.clamp(first, last).abs_diff(first);
                Some((elapsed + time_axis_margin(last.abs_diff(first))) as f64)
            }
        }
    }

    /// Replaces the window with the result of `change`. Then rescales the byte axis if automatic scaling is on.
    pub(crate) fn navigate(&mut self, change: impl FnOnce(Plane, View) -> View) {
        let (Some(plane), Some(view)) = (self.plane(), self.view()) else { return };
        self.focused_mut().view = Some(change(plane, view));
        self.refit_bytes_axis();
    }

    /// Applies `change` to the window of the lane of the device at `index`. Horizontally, the window still follows the
    /// focused lane.
    pub(crate) fn navigate_lane(&mut self, index: usize, change: impl FnOnce(Plane, View) -> View) {
        if index == self.device_index {
            return self.navigate(change);
        }
        let Some(plane) = self.device_at(index).map(|device| self.plane_of(device)) else { return };
        let lane = self.lanes.get_mut(index);
        lane.view = lane.view.map(|view| change(plane, view));
    }

    /// Scales the byte axis to the visible window if automatic scaling is on.
    pub(crate) fn refit_bytes_axis(&mut self) {
        let (Some(plane), Some(view), Some(scene)) = (self.plane(), self.view(), self.scene()) else { return };
        if self.bytes_axis == BytesAxis::FitsWindow && self.no_fit_reason().is_none() {
            let lines = self.drawn_device().map_or(0, |device| self.sampled_height(device));
            self.focused_mut().view = Some(plane.bytes_fitted(view, scene, lines));
        }
    }

    /// Returns the plot of the device at `index`. A segment filter applies only to the focused device. The lanes of
    /// other devices show all segments.
    pub(crate) fn plot_of(&self, index: usize) -> Plot {
        let only = self.plot_settings.plot.filter();
        if index == self.device_index {
            self.plot_settings.plot
        } else {
            with_filter(self.plot_settings.plot, MemoryFilter { address: None, ..only })
        }
    }

    pub(crate) fn memory_part(&self, index: usize) -> Option<MemoryPart> {
        Some((self.device_at(index)?.device, self.plot_of(index).filter()))
    }

    fn index_of_device(&self, device: &DeviceSummary) -> usize {
        let all = self.drawn_file().map_or(&[][..], |file| &file.devices);
        all.iter().position(|other| other.device == device.device).unwrap_or(self.device_index)
    }

    /// Returns the address map of the device at `index`, once it is known.
    pub fn address_map(&self, index: usize) -> Option<&Rc<AddressMap>> {
        lookup(&self.plots.maps, self.memory_part(index)?)
    }

    /// Returns the maximum of the visible sampled lines over a device's trace, in bytes. 0 if the plot has none.
    pub(crate) fn sampled_height(&self, device: &DeviceSummary) -> u64 {
        if self.plot_settings.plot != Plot::Reserved(MemoryFilter::default()) {
            return 0;
        }
        let shown = Line::ALL.into_iter().filter(|line| !self.plots.hidden_lines.contains(line));
        shown.filter_map(|line| device.recorder_value(line.peak_key()?)).max().unwrap_or(0)
    }

    /// Returns the height of a device's plot, in bytes of the vertical axis. `None` until it is known.
    pub(crate) fn plot_height(&self, device: &DeviceSummary) -> Option<u64> {
        let part = || self.memory_part(self.index_of_device(device));
        match self.plot_settings.plot {
            Plot::Stack => Some(device.drawn_peak),
            Plot::Addresses(_) => lookup(&self.plots.maps, part()?).map(|map| map.height),
            Plot::Reserved(only) if only == MemoryFilter::default() => u64::try_from(device.peak_reserved).ok(),
            Plot::Reserved(_) => {
                let overview = lookup(&self.plots.overviews, (part()?, self.axis))?;
                overview.reserved.iter().copied().max()
            }
        }
    }

    /// Extends the drawable area (`plane`) of a device to the height of its plot, the device capacity line, sampled
    /// lines, a planned curve and a compared device. In a plot of addresses, only the plot itself counts.
    pub(crate) fn fit_plane_to_plot(&self, mut plane: Plane, device: &DeviceSummary) -> Plane {
        if self.plot_settings.plot != Plot::Stack {
            plane.extent.bytes = self.plot_height(device).unwrap_or(0).max(1);
        }
        let planned = planned::drawn::peak(self).filter(|_| !matches!(self.plot_settings.plot, Plot::Addresses(_)));
        let lines = self.sampled_height(device);
        plane.extended_to(self.capacity_line().max(planned).max(self.lane_height()).unwrap_or(0).max(lines))
    }

    /// Returns the height that all lanes share, so that their bytes can be compared. `None` if there is one lane, and
    /// in a plot of addresses, which devices do not share.
    fn lane_height(&self) -> Option<u64> {
        if !self.has_lanes() || matches!(self.plot_settings.plot, Plot::Addresses(_)) {
            return None;
        }
        let indices = self.comparing.pair.map_or_else(|| (0..self.device_count()).collect(), Vec::from);
        let height = |index: usize| {
            let device = self.device_at(index)?;
            match self.plot_settings.plot {
                Plot::Stack => Some(Plane::for_device(device, self.axis).extent.bytes),
                _ => self.plot_height(device).map(|height| height.max(self.sampled_height(device))),
            }
        };
        indices.into_iter().filter_map(height).max()
    }

    /// Returns the typed device capacity, unless the vertical axis shows addresses.
    pub(crate) fn capacity_line(&self) -> Option<u64> {
        self.tools.capacity.filter(|_| !matches!(self.plot_settings.plot, Plot::Addresses(_)))
    }

    /// Returns the reason why the byte axis cannot be fitted to the window. `None` if it can.
    pub fn no_fit_reason(&self) -> Option<&'static str> {
        matches!(self.plot_settings.plot, Plot::Addresses(_)).then_some("Not available in the Addresses view")
    }
}
