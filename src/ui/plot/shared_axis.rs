//! A horizontal axis shared by several devices. Events are counted from the first event of each device. Times are
//! absolute.
//!
//! ```text
//! shared       start ........ 0 ....................................... start + width
//! device 0     |   margin     | its first event .......... margin |
//! device 1                               |  margin  | its first event ............. |
//! ```
//! A single device uses its own axis as the shared one.

use crate::state::navigate::{Plane, device_axis_end, device_axis_start};
use picture::timeline::{Axis, Extent, time_axis_margin};
use protocol::DeviceSummary;

/// A horizontal axis shared by several devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedAxis {
    axis: Axis,
    /// Zero of the time axis, in µs since 1970: the earliest first event of all devices.
    earliest_us: i64,
    /// Start of the axis relative to its zero, in units of the axis. Greater than 0 only if just a range of events is
    /// loaded.
    start: i64,
    /// Length of the axis, in units of the axis.
    width: u64,
}

impl SharedAxis {
    /// Creates the axis shared by these devices. A time axis ignores devices without timestamps.
    pub fn for_devices<'a>(devices: impl Iterator<Item = &'a DeviceSummary> + Clone, axis: Axis) -> SharedAxis {
        let times = devices.clone().filter_map(|device| device.time_us);
        let earliest_us = times.map(|(first, _)| first).min().unwrap_or(0);
        let mut shared = SharedAxis { axis, earliest_us, start: 0, width: 1 };
        let mut start = None::<i64>;
        let mut end = 0i64;
        for device in devices {
            if axis == Axis::Time && device.time_us.is_none() {
                continue;
            }
            let origin = shared.origin(device);
            let device_start = origin.saturating_add_unsigned(device_axis_start(device, axis));
            start = Some(start.map_or(device_start, |start| start.min(device_start)));
            end = end.max(origin.saturating_add_unsigned(device_axis_end(device, axis)));
        }
        shared.start = start.unwrap_or(0);
        shared.width = end.abs_diff(shared.start).max(1);
        shared
    }

    /// Returns the zero of a device's own axis, as a position on the shared axis.
    fn origin(&self, device: &DeviceSummary) -> i64 {
        match (self.axis, device.time_us) {
            (Axis::Time, Some((first, last))) => {
                let margin = time_axis_margin(last.abs_diff(first));
                first.saturating_sub(self.earliest_us).saturating_sub_unsigned(margin)
            }
            _ => 0,
        }
    }

    /// Returns the zero of a device's own axis as a position on the shared axis, in whole pixels. If two windows show
    /// the same range of the shared axis, their positions differ by the difference of these values.
    pub fn origin_px(&self, device: &DeviceSummary, x_per_px: f64) -> i64 {
        (self.origin(device) as f64 / x_per_px).round() as i64
    }

    /// Returns the zero of the shared axis, as a position on a device's own axis.
    pub fn zero_on(&self, device: &DeviceSummary) -> i64 {
        self.origin(device).saturating_neg()
    }

    /// Returns the length from the zero of the axis to the end of the recording, in events or µs.
    pub fn recorded_length(&self) -> u64 {
        match self.axis {
            Axis::Events => self.width.saturating_add_signed(self.start).saturating_sub(1),
            Axis::Time => self.width.saturating_sub(self.start.unsigned_abs()),
        }
    }

    /// Returns the plane of a device on the shared axis.
    pub fn plane(&self, device: &DeviceSummary) -> Plane {
        let device_plane = Plane::for_device(device, self.axis);
        let start = self.start.saturating_sub(self.origin(device));
        Plane { start, extent: Extent { width: self.width, ..device_plane.extent }, ..device_plane }
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/shared_axis.rs"]
mod tests;
