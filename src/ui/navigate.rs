//! Moving the window over the plane, and which geometry it needs.
//!
//! ```text
//!   ┌────────────── plane: events + 1 wide, the peak high ───────────────┐
//!   │        ┌─────── asked for: window + margin ───────┐                │
//!   │        │       ┌──── window: the canvas ────┐      │                │
//! ```
//! The window never leaves the plane, and "everything" is as far as it zooms out: no gesture ends in an empty picture.

mod data;

pub(crate) use data::own_width;
pub use data::{Plane, wheel_factor};

use super::shared::Shared;
use super::shown::BytesAxis;
use engine::protocol::{Looks, Plot};

use base::units::Moment;
use picture::timeline::{Axis, View, time_axis_margin};

impl Shared {
    /// The plane of the shown device; of the focused one where there are several.
    pub fn plane(&self) -> Option<Plane> {
        self.device().map(|device| self.plane_of(device))
    }

    /// Where an event stands on the axis; `None` on the time axis for one without a time.
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

    /// The window's edges as parts of the whole axis, from 0 to 1.
    pub fn window(&self) -> Option<[f64; 2]> {
        let (view, plane) = (self.view?, self.plane()?);
        Some([0.0, f64::from(view.width_px)].map(|column| plane.part(view.x_from_column(column))))
    }

    /// A column of the window, also outside of it, as a part of the whole axis.
    pub fn axis_part(&self, column: f64) -> Option<f64> {
        Some(self.plane()?.part(self.view?.x_from_column(column)))
    }

    /// The edges of the shown device's own axis as parts of the whole axis: 0 and 1, unless devices share it.
    pub fn own_axis(&self) -> Option<[f64; 2]> {
        let plane = self.plane()?;
        let width = own_width(self.device()?, self.axis);
        Some([0.0, width as f64].map(|x| plane.part(x)))
    }

    /// Where the peak begins on the axis; on the time axis the worker has to say.
    pub fn peak_x(&self) -> Option<f64> {
        match self.axis {
            Axis::Events => {
                self.device().map(|device| f64::from(Moment::after_event_or_minus_one(device.peak_event).0))
            }
            Axis::Time => self.around.marks.latest().map(|marks| marks.peak.time as f64),
        }
    }

    /// Replaces the window by what `change` makes of it, and keeps the bytes axis fitted where that is wanted.
    pub(super) fn navigate(&mut self, change: impl FnOnce(Plane, View) -> View) {
        let (Some(plane), Some(view)) = (self.plane(), self.view) else { return };
        self.view = Some(change(plane, view));
        self.fit_bytes_if_wanted();
    }

    /// Order or colours change: the geometry has to be made anew.
    pub(super) fn change_looks(&mut self, looks: Looks) {
        if looks == self.looks {
            return;
        }
        if looks.colouring != self.looks.colouring {
            self.around.faded.clear();
        }
        if looks.stacking != self.looks.stacking {
            // Elsewhere, what stands on what are no allocations.
            self.tools.kept = self.selection_in_window().filter(|_| self.looks.plot == Plot::Stack);
        }
        self.looks = looks;
        self.forget_requests();
    }

    /// Fits the bytes axis to the window where that is wanted.
    pub(super) fn fit_bytes_if_wanted(&mut self) {
        let (Some(plane), Some(view), Some(scene)) = (self.plane(), self.view, &self.geometry.scene) else { return };
        if self.bytes_axis == BytesAxis::FitsWindow && self.why_no_fit().is_none() {
            self.view = Some(plane.bytes_fitted(view, scene));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shown::Canvas;
    use engine::protocol::DeviceSummary;
    use picture::timeline::Extent;
    use proptest::prelude::*;

    const CANVAS: Canvas = Canvas { width_px: 800, height_px: 400, scale: 1.0 };
    const PLANE: Plane =
        Plane { axis: Axis::Events, start: 0, extent: Extent { width: 100_001, bytes: 80_000_000_000 } };

    #[test]
    fn everything_fits_and_is_the_limit() {
        let fit = PLANE.fit(CANVAS);
        assert_eq!(PLANE.zoom_events(fit, 400.0, 1.5), fit);
        assert_eq!(PLANE.zoom_bytes(fit, 10.0, 1.5), fit);
        assert_eq!(PLANE.moved(fit, 50.0, -50.0), fit);
        assert_eq!(PLANE.with_margin(fit), fit, "beyond the plane there is nothing to ask for");
        assert!(PLANE.is_served(fit, &fit));
    }

    #[test]
    fn reserved_is_in_the_picture_while_it_is_comparable() {
        let device = |drawn_peak, peak_reserved| DeviceSummary { drawn_peak, peak_reserved, ..Default::default() };
        assert_eq!(Plane::of(&device(100, 150), Axis::Events).extent.bytes, 150);
        assert_eq!(Plane::of(&device(100, 5000), Axis::Events).extent.bytes, 100);
        assert_eq!(Plane::of(&device(0, 5000), Axis::Events).extent.bytes, 5000);
        assert_eq!(Plane::of(&device(0, 0), Axis::Events).extent, Extent { width: 1, bytes: 1 });
    }

    proptest! {
        #[test]
        fn the_point_under_the_cursor_stays(column in 0.0..800.0, row in 0.0..400.0, factor in 0.2f64..0.9) {
            let middle = PLANE.zoom_events(PLANE.fit(CANVAS), 400.0, 0.1);
            let zoomed = PLANE.zoom_events(middle, column, factor);
            let moment = middle.x_from_column(column);
            prop_assert!((zoomed.column_from_x(moment) - column).abs() <= 1.0);
            let zoomed = PLANE.zoom_bytes(middle, row, factor);
            let byte = middle.bytes_from_row(row);
            prop_assert!((byte / zoomed.bytes_per_px - zoomed.bottom_px as f64 - row).abs() <= 1.0);
        }

        #[test]
        fn no_gesture_leaves_the_plane(steps in proptest::collection::vec((0..4, -2000.0..2000.0f64, 0.1..10.0f64), 0..20)) {
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
                prop_assert!(PLANE.is_served(view, &asked), "what is asked for must be enough: {view:?} {asked:?}");
            }
        }
    }
}
