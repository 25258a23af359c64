//! Navigation: moves the visible window over the plane, and determines how much geometry to request.
//!
//! ```text
//!   ┌────────── plane: events + 1 wide, as high as the peak ─────────────┐
//!   │        ┌────── requested: window + margin ────────┐                │
//!   │        │       ┌──── window: the canvas ────┐      │                │
//! ```
//! The window never leaves the plane, and zooming out stops when the whole plane is visible, so no gesture can end in
//! an empty picture.

pub use crate::state::navigate::{Plane, wheel_factor};
pub(crate) use crate::state::navigate::{device_axis_end, device_axis_start};

use crate::state::shared::Shared;
use picture::timeline::Axis;

/// Returns the window's left and right edges as fractions of the whole axis, 0 to 1.
pub fn window(state: &Shared) -> Option<[f64; 2]> {
    let (view, plane) = (state.view()?, state.plane()?);
    Some([0.0, f64::from(view.width_px)].map(|column| plane.fraction(view.x_from_column(column))))
}

/// Converts a column of the window, in device pixels, to a fraction of the whole axis. The column may be outside
/// the window.
pub fn axis_fraction(state: &Shared, column: f64) -> Option<f64> {
    Some(state.plane()?.fraction(state.view()?.x_from_column(column)))
}

/// Returns the start and end of the shown device's own axis, as fractions of the whole axis. They are 0 and 1
/// unless several devices share the axis.
pub fn device_axis(state: &Shared) -> Option<[f64; 2]> {
    let plane = state.plane()?;
    let device = state.drawn_device()?;
    Some([device_axis_start(device, state.axis), device_axis_end(device, state.axis)].map(|x| plane.fraction(x as f64)))
}

/// Returns the position of the peak on the horizontal axis. On the time axis, `None` until the worker has sent the
/// marks.
pub fn peak_x(state: &Shared) -> Option<f64> {
    match state.axis {
        Axis::Events => state.drawn_device().map(|device| f64::from(device.peak_moment().0)),
        Axis::Time => state.surroundings.marks.latest().map(|marks| marks.peak.time as f64),
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/navigate.rs"]
mod tests;
