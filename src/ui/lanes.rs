//! Several devices above each other on one horizontal axis: which are shown, where each lane lies, whose geometry comes next.
//!
//! ```text
//!   ┌──────────────────────┐  device 0
//!   ├──────────────────────┤  device 1: focused. Its window and geometry are Shared::view and Shared::geometry, as if it were alone
//!   ├──────────────────────┤  device 2
//!   └──────────────────────┘
//! ```
//! Summary, details, legend and marks are of the focused device. The others have only a window and a geometry, kept here;
//! horizontally, their windows follow the focused one's. One device by itself is one lane as high as the canvas.

use super::effect::Pointer;
use super::navigate::Plane;
use super::shared::Shared;
use super::shared_axis::SharedAxis;
use super::shown::{Canvas, Geometry};
use engine::protocol::DeviceSummary;
use picture::timeline::View;
use std::ops::Range;

/// A lane is at least so many CSS pixels high: fewer show nothing. Devices beyond are reached by moving the focus.
const LOWEST: f64 = 48.0;

/// Whether devices are shown one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Arrangement {
    /// One at a time.
    #[default]
    Alone,
    /// All above each other.
    Together,
}

/// What there is of the lanes besides the focused one.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// Whether there is more than one, where the file has more devices.
    pub arrangement: Arrangement,
    /// The device of the uppermost lane.
    pub(super) first: usize,
    pub(super) others: Vec<Lane>,
    /// The device whose geometry was asked for last.
    pub(super) turn: usize,
    /// Where the pointer is over the canvas, whatever is there. [`Shared::pointer`] is where it is in the focused lane's window.
    pub pointer: Option<Pointer>,
    /// The device that the pointer was over last: what a drag moves up and down.
    pub(super) pointed: Option<usize>,
}

/// A lane without the focus.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    /// The device, by its place in the summary's list.
    pub(super) place: usize,
    pub(super) view: Option<View>,
    pub(super) geometry: Geometry,
}

/// A lane as it is shown.
#[derive(Clone, Copy, Debug)]
pub struct ShownLane<'a> {
    /// The device, by its place in the summary's list.
    pub place: usize,
    /// The device.
    pub device: &'a DeviceSummary,
    /// Its window, as high as the lane.
    pub view: &'a View,
    /// Its geometry.
    pub geometry: &'a Geometry,
    /// The canvas' row, counted upwards, at which the lane begins.
    pub bottom_px: u32,
}

impl Lanes {
    /// Forgets everything about a file.
    pub(super) fn forget(&mut self) {
        *self = Lanes { arrangement: self.arrangement, pointer: self.pointer, ..Lanes::default() };
    }
}

impl Shared {
    /// The device at a place in the summary's list.
    pub fn device_at(&self, place: usize) -> Option<&DeviceSummary> {
        self.file()?.devices.get(place)
    }

    pub(super) fn device_count(&self) -> usize {
        self.file().map_or(0, |file| file.devices.len())
    }

    /// Whether several devices are shown.
    pub fn has_lanes(&self) -> bool {
        self.lanes.arrangement == Arrangement::Together && self.device_count() > 1
    }

    /// The devices that have a lane, from the top, by their places.
    pub fn lane_places(&self) -> Range<usize> {
        let (Some(canvas), true) = (self.canvas, self.has_lanes()) else {
            return self.device_place..self.device_place + 1;
        };
        let fit = (f64::from(canvas.height_px) / canvas.scale / LOWEST).floor() as usize;
        let count = fit.clamp(1, self.device_count());
        let lowest_first = (self.device_place + 1).saturating_sub(count);
        let first = self.lanes.first.clamp(lowest_first, self.device_place).min(self.device_count() - count);
        first..first + count
    }

    /// The lane of a device on the canvas: the row at which it begins, counted upwards, and what it would be as a canvas of its own.
    pub(super) fn lane_canvas(&self, place: usize) -> Option<(u32, Canvas)> {
        let (canvas, places) = (self.canvas?, self.lane_places());
        let from_top = place.checked_sub(places.start).filter(|_| places.contains(&place))?;
        let edge = |lane: usize| (u64::from(canvas.height_px) * lane as u64 / places.len() as u64) as u32;
        // A line is between two lanes.
        let line = if from_top > 0 { canvas.scale.round().max(1.0) as u32 } else { 0 };
        let (top, bottom) = (edge(from_top).saturating_add(line), edge(from_top + 1));
        let lane = Canvas { height_px: bottom.saturating_sub(top).max(1), ..canvas };
        Some((canvas.height_px - bottom, lane))
    }

    /// The lanes that have a window, from the top.
    pub fn shown_lanes(&self) -> impl Iterator<Item = ShownLane<'_>> {
        self.lane_places().filter_map(|place| {
            let (view, geometry) = if place == self.device_place {
                (self.view.as_ref()?, &self.geometry)
            } else {
                let lane = self.lanes.others.iter().find(|lane| lane.place == place)?;
                (lane.view.as_ref()?, &lane.geometry)
            };
            let (bottom_px, _) = self.lane_canvas(place)?;
            Some(ShownLane { place, device: self.device_at(place)?, view, geometry, bottom_px })
        })
    }

    /// The focused lane: that of [`Shared::view`].
    pub fn focused_lane(&self) -> Option<ShownLane<'_>> {
        self.shown_lanes().find(|lane| lane.place == self.device_place)
    }

    /// The lane at a place of the canvas, and that place in the pixels of the lane's window.
    pub fn lane_at(&self, pointer: Pointer) -> Option<(ShownLane<'_>, Pointer)> {
        let lane = self.shown_lanes().find(|lane| f64::from(lane.bottom_px) <= pointer.y.max(0.0))?;
        Some((lane, Pointer { y: pointer.y - f64::from(lane.bottom_px), ..pointer }))
    }

    /// The axis of the devices that are shown: of all of them, or of the one.
    pub fn shared_axis(&self) -> SharedAxis {
        let devices = self.file().map_or(&[][..], |file| &file.devices);
        let alone = self.device_place..self.device_place.saturating_add(1);
        let devices = if self.has_lanes() { Some(devices) } else { devices.get(alone) };
        SharedAxis::of(devices.unwrap_or_default().iter(), self.axis)
    }

    /// The plane of a device: over the axis it shares, as high as its plot, with room for what is drawn besides.
    pub(super) fn plane_of(&self, device: &DeviceSummary) -> Plane {
        self.as_high_as_plotted(self.shared_axis().plane(device), device)
    }
}
