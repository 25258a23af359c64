//! One horizontal axis for several devices: events are counted from each device's first, times are real ones.
//!
//! ```text
//! shared       start ........ 0 ....................................... start + width
//! device 0     |   margin     | its first event .......... margin |
//! device 1                               |  margin  | its first event ............. |
//! ```
//! A device by itself has its own axis as the shared one.

use super::navigate::Plane;
use super::navigate::own_width;
use engine::protocol::DeviceSummary;
use picture::timeline::{Axis, Extent, time_axis_margin};

/// The axis that some devices share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedAxis {
    axis: Axis,
    /// µs since 1970 of the earliest first event: the axis' zero.
    earliest_us: i64,
    /// Where it begins, in its units from its zero: at 0 or before.
    start: i64,
    /// How long it is, in its units.
    width: u64,
}

impl SharedAxis {
    /// The axis of these devices. On the time axis, those without times have no part in it.
    pub fn of<'a>(devices: impl Iterator<Item = &'a DeviceSummary> + Clone, axis: Axis) -> SharedAxis {
        let times = devices.clone().filter_map(|device| device.time_us);
        let earliest_us = times.map(|(first, _)| first).min().unwrap_or(0);
        let mut shared = SharedAxis { axis, earliest_us, start: 0, width: 1 };
        let mut end = 0i64;
        for device in devices {
            if axis == Axis::Time && device.time_us.is_none() {
                continue;
            }
            let origin = shared.origin(device);
            shared.start = shared.start.min(origin);
            end = end.max(origin.saturating_add_unsigned(own_width(device, axis)));
        }
        shared.width = end.abs_diff(shared.start).max(1);
        shared
    }

    /// Where a device's own axis begins, from the zero of this one.
    fn origin(&self, device: &DeviceSummary) -> i64 {
        match (self.axis, device.time_us) {
            (Axis::Time, Some((first, last))) => {
                let margin = time_axis_margin(last.abs_diff(first));
                first.saturating_sub(self.earliest_us).saturating_sub_unsigned(margin)
            }
            _ => 0,
        }
    }

    /// The same in whole pixels of a scale: what the windows of two devices differ by.
    pub fn origin_px(&self, device: &DeviceSummary, x_per_px: f64) -> i64 {
        (self.origin(device) as f64 / x_per_px).round() as i64
    }

    /// Where the zero lies on a device's own axis: the earliest first event, or the place before event 0.
    pub fn zero_on(&self, device: &DeviceSummary) -> i64 {
        self.origin(device).saturating_neg()
    }

    /// From the zero to the end of what is recorded: events, or µs.
    pub fn recorded(&self) -> u64 {
        match self.axis {
            Axis::Events => self.width.saturating_sub(1),
            Axis::Time => self.width.saturating_sub(self.start.unsigned_abs()),
        }
    }

    /// The plane of a device over this axis.
    pub fn plane(&self, device: &DeviceSummary) -> Plane {
        let own = Plane::of(device, self.axis);
        let start = self.start.saturating_sub(self.origin(device));
        Plane { start, extent: Extent { width: self.width, ..own.extent }, ..own }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(events: u64, time_us: Option<(i64, i64)>) -> DeviceSummary {
        DeviceSummary { events, time_us, drawn_peak: 9, ..DeviceSummary::default() }
    }

    #[test]
    fn alone_a_device_has_its_own_axis() {
        for (device, axis) in [
            (device(99, None), Axis::Events),
            (device(99, Some((1_000_000, 1_640_000))), Axis::Time),
            (device(0, None), Axis::Time),
        ] {
            let shared = SharedAxis::of(std::iter::once(&device), axis);
            let own = Plane::of(&device, axis);
            assert_eq!(shared.plane(&device).start, 0);
            if axis == Axis::Events || device.time_us.is_some() {
                assert_eq!(shared.plane(&device), own);
            }
        }
    }

    #[test]
    fn events_are_counted_from_each_first_one() {
        let devices = [device(99, None), device(9, None)];
        let shared = SharedAxis::of(devices.iter(), Axis::Events);
        for device in &devices {
            let plane = shared.plane(device);
            assert_eq!((plane.start, plane.extent.width, shared.zero_on(device)), (0, 100, 0));
        }
        assert_eq!(shared.recorded(), 99);
    }

    #[test]
    fn times_are_real_ones() {
        // 64 s long, so 1 s of margin; the second begins 10 s later and ends 16 s after the first; the third has no times.
        let s = 1_000_000;
        let devices = [device(9, Some((5 * s, 69 * s))), device(9, Some((15 * s, 85 * s - 6 * s))), device(9, None)];
        let shared = SharedAxis::of(devices.iter(), Axis::Time);
        let [first, second] = [&devices[0], &devices[1]].map(|device| shared.plane(device));
        assert_eq!((first.start, first.extent.width), (0, second.extent.width));
        // One instant, 20 s since 1970, on both axes: as far from where the shared one begins.
        let at = |device: &DeviceSummary, us: i64| {
            let (first, last) = device.time_us.unwrap_or_default();
            us - first + time_axis_margin(last.abs_diff(first)) as i64
        };
        assert_eq!(at(&devices[0], 20 * s) - first.start, at(&devices[1], 20 * s) - second.start);
        assert_eq!(at(&devices[1], 5 * s), shared.zero_on(&devices[1]));
        assert_eq!(shared.width, (s + 10 * s + 64 * s + s) as u64, "margin, ten seconds, the second with its margin");
    }

    #[test]
    fn senseless_times_end_at_the_limits() {
        let devices =
            [device(1, Some((i64::MIN, i64::MAX))), device(1, Some((i64::MAX, i64::MAX))), device(u64::MAX, None)];
        for axis in [Axis::Events, Axis::Time] {
            let shared = SharedAxis::of(devices.iter(), axis);
            for device in &devices {
                assert!(shared.plane(device).extent.width >= 1);
                let _ = (shared.zero_on(device), shared.origin_px(device, 1e-9), shared.recorded());
            }
        }
        assert_eq!(SharedAxis::of([].iter(), Axis::Time).recorded(), 1);
    }
}
