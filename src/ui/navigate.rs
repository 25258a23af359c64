//! Navigation: moves the visible window over the plane, and determines how much geometry to request.
//!
//! ```text
//!   ┌────────── plane: events + 1 wide, as high as the peak ─────────────┐
//!   │        ┌────── requested: window + margin ────────┐                │
//!   │        │       ┌──── window: the canvas ────┐      │                │
//! ```
//! The window never leaves the plane, and zooming out stops when the whole plane is visible, so no gesture can end in
//! an empty picture.

mod data;

pub use data::{Plane, wheel_factor};
pub(crate) use data::{device_axis_end, device_axis_start};

use super::drawing::BytesAxis;
use super::shared::Shared;
use protocol::{Plot, PlotSettings};

use base::units::Moment;
use picture::timeline::{Axis, View, time_axis_margin};

impl Shared {
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

    /// Returns the window's left and right edges as fractions of the whole axis, 0 to 1.
    pub fn window(&self) -> Option<[f64; 2]> {
        let (view, plane) = (self.view?, self.plane()?);
        Some([0.0, f64::from(view.width_px)].map(|column| plane.fraction(view.x_from_column(column))))
    }

    /// Converts a column of the window, in device pixels, to a fraction of the whole axis. The column may be outside
    /// the window.
    pub fn axis_fraction(&self, column: f64) -> Option<f64> {
        Some(self.plane()?.fraction(self.view?.x_from_column(column)))
    }

    /// Returns the start and end of the shown device's own axis, as fractions of the whole axis. They are 0 and 1
    /// unless several devices share the axis.
    pub fn device_axis(&self) -> Option<[f64; 2]> {
        let plane = self.plane()?;
        let device = self.drawn_device()?;
        Some(
            [device_axis_start(device, self.axis), device_axis_end(device, self.axis)]
                .map(|x| plane.fraction(x as f64)),
        )
    }

    /// Returns the position of the peak on the horizontal axis. On the time axis, `None` until the worker has sent the
    /// marks.
    pub fn peak_x(&self) -> Option<f64> {
        match self.axis {
            Axis::Events => {
                self.drawn_device().map(|device| f64::from(Moment::after_event_or_minus_one(device.peak_event).0))
            }
            Axis::Time => self.surroundings.marks.latest().map(|marks| marks.peak.time as f64),
        }
    }

    /// Replaces the window with the result of `change`. Then rescales the byte axis if automatic scaling is on.
    pub(super) fn navigate(&mut self, change: impl FnOnce(Plane, View) -> View) {
        let (Some(plane), Some(view)) = (self.plane(), self.view) else { return };
        self.view = Some(change(plane, view));
        self.refit_bytes_axis();
    }

    /// Changes the display settings, and drops pending requests for scenes with the old settings.
    pub(super) fn change_plot_settings(&mut self, plot_settings: PlotSettings) {
        if plot_settings == self.plot_settings {
            return;
        }
        if plot_settings.colouring != self.plot_settings.colouring {
            self.surroundings.faded.clear();
        }
        if plot_settings.stacking != self.plot_settings.stacking {
            // Plots other than the stack are not made of stacked allocations.
            self.tools.kept_selection = self.selection_in_window().filter(|_| self.plot_settings.plot == Plot::Stack);
        }
        self.plot_settings = plot_settings;
        self.ignore_requests();
    }

    /// Scales the byte axis to the visible window if automatic scaling is on.
    pub(super) fn refit_bytes_axis(&mut self) {
        let (Some(plane), Some(view), Some(scene)) = (self.plane(), self.view, &self.geometry.scene) else { return };
        if self.bytes_axis == BytesAxis::FitsWindow && self.no_fit_reason().is_none() {
            self.view = Some(plane.bytes_fitted(view, scene));
        }
    }
}

#[cfg(test)]
#[path = "../../tests/units/ui/navigate.rs"]
mod tests;
