//! Unit tests of `src/ui/navigate.rs`.

use super::*;
use crate::state::drawing::Canvas;
use picture::timeline::Extent;
use proptest::prelude::*;
use protocol::DeviceSummary;

const CANVAS: Canvas = Canvas { width_px: 800, height_px: 400, scale: 1.0 };
const PLANE: Plane = Plane { axis: Axis::Events, start: 0, extent: Extent { width: 100_001, bytes: 80_000_000_000 } };

#[test]
fn fitted_view_limits_zoom_and_pan() {
    let fit = PLANE.fit(CANVAS);
    assert_eq!(PLANE.zoom_events(fit, 400.0, 1.5), fit);
    assert_eq!(PLANE.zoom_bytes(fit, 10.0, 1.5), fit);
    assert_eq!(PLANE.moved(fit, 50.0, -50.0), fit);
    assert_eq!(PLANE.with_margin(fit), fit, "no margin beyond the plane");
    assert!(PLANE.is_covered(fit, &fit));
}

#[test]
fn reserved_peak_is_in_view_if_comparable_to_live_peak() {
    let device = |drawn_peak, peak_reserved| DeviceSummary { drawn_peak, peak_reserved, ..Default::default() };
    assert_eq!(Plane::for_device(&device(100, 150), Axis::Events).extent.bytes, 150);
    assert_eq!(Plane::for_device(&device(100, 5000), Axis::Events).extent.bytes, 100);
    assert_eq!(Plane::for_device(&device(0, 5000), Axis::Events).extent.bytes, 5000);
    assert_eq!(Plane::for_device(&device(0, 0), Axis::Events).extent, Extent { width: 1, bytes: 1 });
}

proptest! {
    #[test]
    fn zoom_keeps_position_under_pointer(column in 0.0..800.0, row in 0.0..400.0, factor in 0.2f64..0.9) {
        let middle = PLANE.zoom_events(PLANE.fit(CANVAS), 400.0, 0.1);
        let zoomed = PLANE.zoom_events(middle, column, factor);
        let moment = middle.x_from_column(column);
        prop_assert!((zoomed.column_from_x(moment) - column).abs() <= 1.0);
        let zoomed = PLANE.zoom_bytes(middle, row, factor);
        let byte = middle.bytes_from_row(row);
        prop_assert!((byte / zoomed.bytes_per_px - zoomed.bottom_px as f64 - row).abs() <= 1.0);
    }

    #[test]
    fn view_stays_in_bounds_after_any_gesture(steps in proptest::collection::vec((0..4, -2000.0..2000.0f64, 0.1..10.0f64), 0..20)) {
        let mut view = PLANE.fit(CANVAS);
        for (what, place, factor) in steps {
            view = match what {
                0 => PLANE.zoom_events(view, place, factor),
                1 => PLANE.zoom_bytes(view, place, factor),
                2 => PLANE.moved(view, place, -place),
                _ => PLANE.resized(view, Canvas { width_px: (place.abs() as u32).max(1), ..CANVAS }),
            };
            prop_assert!(view.left_px >= 0 && view.bottom_px >= 0);
            prop_assert!(view.x_from_column(0.0) < PLANE.extent.width as f64);
            let asked = PLANE.with_margin(view);
            prop_assert!(PLANE.is_covered(view, &asked), "the requested view must cover the shown one: {view:?} {asked:?}");
        }
    }
}
