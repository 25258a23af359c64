//! Moving the window over the plane, and which geometry it needs.
//!
//! ```text
//!   ┌────────────── plane: events + 1 wide, the peak high ───────────────┐
//!   │        ┌─────── asked for: window + margin ───────┐                │
//!   │        │       ┌──── window: the canvas ────┐      │                │
//! ```
//! The window never leaves the plane, and "everything" is as far as it zooms out: no gesture ends in an empty picture.

mod data;

pub use data::{Plane, wheel_factor};
pub(crate) use data::{own_end, own_start};

use super::shared::Shared;
use super::shown::BytesAxis;
use engine::protocol::{Looks, Plot};

use base::units::Moment;
use picture::timeline::{Axis, View, time_axis_margin};

impl Shared {
    /// The plane of the shown device; of the focused one where there are several.
    pub fn plane(&self) -> Option<Plane> {
        self.drawn_device().map(|device| self.plane_of(device))
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
        let device = self.drawn_device()?;
        Some([own_start(device, self.axis), own_end(device, self.axis)].map(|x| plane.part(x as f64)))
    }

    /// Where the peak begins on the axis; on the time axis the worker has to say.
    pub fn peak_x(&self) -> Option<f64> {
        match self.axis {
            Axis::Events => {
                self.drawn_device().map(|device| f64::from(Moment::after_event_or_minus_one(device.peak_event).0))
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
#[path = "../../tests/units/ui/navigate.rs"]
mod tests;
