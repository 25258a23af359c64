//! Unit tests of `src/ui/plot/shared_axis.rs`.

use super::*;

fn device(events: u64, time_us: Option<(i64, i64)>) -> DeviceSummary {
    DeviceSummary { events, time_us, drawn_peak: 9, ..DeviceSummary::default() }
}

#[test]
fn single_device_has_its_own_axis() {
    for (device, axis) in [
        (device(99, None), Axis::Events),
        (device(99, Some((1_000_000, 1_640_000))), Axis::Time),
        (device(0, None), Axis::Time),
    ] {
        let shared = SharedAxis::for_devices(std::iter::once(&device), axis);
        let own = Plane::for_device(&device, axis);
        assert_eq!(shared.plane(&device).start, 0);
        if axis == Axis::Events || device.time_us.is_some() {
            assert_eq!(shared.plane(&device), own);
        }
    }
}

#[test]
fn event_axes_start_at_first_event_of_each_device() {
    let devices = [device(99, None), device(9, None)];
    let shared = SharedAxis::for_devices(devices.iter(), Axis::Events);
    for device in &devices {
        let plane = shared.plane(device);
        assert_eq!((plane.start, plane.extent.width, shared.zero_on(device)), (0, 100, 0));
    }
    assert_eq!(shared.recorded_length(), 99);
}

#[test]
fn time_axes_are_aligned_by_wall_clock() {
    // Both are 64 s long, so the margin is 1 s. The second starts 10 s later. The third has no times.
    let s = 1_000_000;
    let devices = [device(9, Some((5 * s, 69 * s))), device(9, Some((15 * s, 85 * s - 6 * s))), device(9, None)];
    let shared = SharedAxis::for_devices(devices.iter(), Axis::Time);
    let [first, second] = [&devices[0], &devices[1]].map(|device| shared.plane(device));
    assert_eq!((first.start, first.extent.width), (0, second.extent.width));
    // The same instant, 20 s after 1970, has the same distance from the start of the shared axis on both.
    let at = |device: &DeviceSummary, us: i64| {
        let (first, last) = device.time_us.unwrap_or_default();
        us - first + time_axis_margin(last.abs_diff(first)) as i64
    };
    assert_eq!(at(&devices[0], 20 * s) - first.start, at(&devices[1], 20 * s) - second.start);
    assert_eq!(at(&devices[1], 5 * s), shared.zero_on(&devices[1]));
    assert_eq!(shared.width, (s + 10 * s + 64 * s + s) as u64, "margin, ten seconds, the second with its margin");
}

#[test]
fn extreme_times_do_not_overflow() {
    let devices =
        [device(1, Some((i64::MIN, i64::MAX))), device(1, Some((i64::MAX, i64::MAX))), device(u64::MAX, None)];
    for axis in [Axis::Events, Axis::Time] {
        let shared = SharedAxis::for_devices(devices.iter(), axis);
        for device in &devices {
            assert!(shared.plane(device).extent.width >= 1);
            let _ = (shared.zero_on(device), shared.origin_px(device, 1e-9), shared.recorded_length());
        }
    }
    assert_eq!(SharedAxis::for_devices([].iter(), Axis::Time).recorded_length(), 1);
}
