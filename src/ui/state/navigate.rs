//! The plane that the window moves over. It spans the whole trace horizontally and all bytes vertically.

use crate::state::drawing::Canvas;
use picture::timeline::{Axis, Extent, Scene, View, time_axis_width};
use protocol::DeviceSummary;

/// The full extent of a device's timeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    pub axis: Axis,
    /// Start of the plane, in units of the device's own axis. Normally 0. It is greater if only a range of events is
    /// loaded, and less if devices share an axis.
    pub start: i64,
    /// Width and height of the plane, each at least 1. The height does not include the free space above the peak.
    pub extent: Extent,
}

impl Plane {
    /// Creates the plane of a device. The plane includes the curve of reserved bytes, unless the stack would then fill
    /// less than half of the height.
    pub fn for_device(device: &DeviceSummary, axis: Axis) -> Plane {
        let drawn = device.drawn_peak;
        let reserved = u64::try_from(device.peak_reserved).unwrap_or(0);
        let bytes = if drawn == 0 || reserved / 2 <= drawn { drawn.max(reserved) } else { drawn };
        let start = device_axis_start(device, axis);
        let width = device_axis_end(device, axis).saturating_sub(start).max(1);
        Plane { axis, start: start as i64, extent: Extent { width, bytes: bytes.max(1) } }
    }

    /// Returns the view that shows the whole plane on `canvas`.
    pub fn fit(self, canvas: Canvas) -> View {
        self.fit_px(canvas.width_px, canvas.height_px)
    }

    /// Returns the view that shows the whole plane in a window of the same size as `view`.
    pub fn fit_like(self, view: View) -> View {
        self.fit_px(view.width_px, view.height_px)
    }

    pub(crate) fn fit_px(self, width_px: u32, height_px: u32) -> View {
        let fit = View::fit(self.extent.width, self.extent.bytes, width_px, height_px);
        View { axis: self.axis, left_px: self.first_left(fit.x_per_px), ..fit }
    }

    /// Returns the pixel column of the plane's start. `x_per_px` is the scale, in units of the axis per pixel.
    pub(crate) fn first_left(self, x_per_px: f64) -> i64 {
        (self.start as f64 / x_per_px).round() as i64
    }

    /// Converts an axis position to a fraction of the axis, clamped to 0–1.
    pub(crate) fn fraction(self, x: f64) -> f64 {
        ((x - self.start as f64) / self.extent.width as f64).clamp(0.0, 1.0)
    }

    /// Clamps an axis position to the plane.
    pub fn clamp_x(self, x: f64) -> f64 {
        let start = self.start as f64;
        x.clamp(start, start + self.extent.width as f64)
    }

    /// Returns a view of the range between two positions, given as fractions of the whole axis.
    pub fn view_between_fractions(self, view: View, edges: [f64; 2]) -> View {
        let x = |edge: f64| self.start as f64 + edge.clamp(0.0, 1.0) * self.extent.width as f64;
        self.view_between(view, edges.map(x))
    }

    /// Returns a view of the range between two positions, in units of the axis.
    pub fn view_between(self, view: View, [from, to]: [f64; 2]) -> View {
        let x_per_px = (to - from).abs().max(1e-9) / f64::from(view.width_px);
        // `zoomed_x` may clamp the zoom. The requested range is then cropped equally on both sides.
        let zoomed = view.zoomed_x(0.0, x_per_px / view.x_per_px, self.extent);
        let middle = (from + to) / 2.0 / zoomed.x_per_px;
        self.clamped(View { left_px: (middle - f64::from(view.width_px) / 2.0).round() as i64, ..zoomed })
    }

    /// Returns a view of the rows of `view` from `bottom` to `bottom + height`, enlarged to the full window.
    pub fn view_of_rows(self, view: View, bottom: f64, height: f64) -> View {
        let factor = height / f64::from(view.height_px);
        let zoomed = view.zoomed_bytes(0.0, factor, self.extent);
        let middle = (view.bottom_px as f64 + bottom + height / 2.0) * view.bytes_per_px / zoomed.bytes_per_px;
        self.clamped(View { bottom_px: (middle - f64::from(view.height_px) / 2.0).round() as i64, ..zoomed })
    }

    /// Returns a view of the same horizontal range with the full height of the plane.
    pub fn full_height(self, view: View) -> View {
        // `clamped` reduces the scale to the full height.
        self.clamped(View { bytes_per_px: f64::MAX, bottom_px: 0, ..view })
    }

    /// Returns the plane with its height increased to at least `bytes`.
    pub fn extended_to(mut self, bytes: u64) -> Plane {
        self.extent.bytes = self.extent.bytes.max(bytes);
        self
    }

    /// Returns the view closest to `view` that lies within the plane.
    pub(crate) fn clamped(self, view: View) -> View {
        let fit = self.fit_like(view);
        let x_per_px = view.x_per_px.min(fit.x_per_px);
        let bytes_per_px = view.bytes_per_px.min(fit.bytes_per_px);
        let max_start = |range: f64, size_px: u32| (range.round() as i64 - i64::from(size_px)).max(0);
        let min_left = self.first_left(x_per_px);
        let max_left = min_left + max_start(f64::from(fit.width_px) * (fit.x_per_px / x_per_px), view.width_px);
        let max_bottom = max_start(f64::from(fit.height_px) * (fit.bytes_per_px / bytes_per_px), view.height_px);
        View {
            x_per_px,
            bytes_per_px,
            left_px: view.left_px.clamp(min_left, max_left),
            bottom_px: view.bottom_px.clamp(0, max_bottom),
            ..view
        }
    }

    /// Zooms the horizontal axis. A `factor` > 1 zooms out. The position at `column` stays fixed.
    pub fn zoom_events(self, view: View, column: f64, factor: f64) -> View {
        self.clamped(view.zoomed_x(column, factor, self.extent))
    }

    /// Zooms the byte axis. A `factor` > 1 zooms out. The byte at `row` stays fixed.
    pub fn zoom_bytes(self, view: View, row: f64, factor: f64) -> View {
        self.clamped(view.zoomed_bytes(row, factor, self.extent))
    }

    /// Moves the window right and up, in device pixels.
    pub fn moved(self, view: View, right_px: f64, up_px: f64) -> View {
        self.clamped(view.panned(-right_px.round() as i64, -up_px.round() as i64))
    }

    /// Returns the view of the same events and bytes on a canvas of another size.
    pub fn resized(self, view: View, canvas: Canvas) -> View {
        let sideways = f64::from(view.width_px) / f64::from(canvas.width_px);
        let upwards = f64::from(view.height_px) / f64::from(canvas.height_px);
        self.clamped(View {
            x_per_px: view.x_per_px * sideways,
            bytes_per_px: view.bytes_per_px * upwards,
            left_px: (view.left_px as f64 / sideways).round() as i64,
            bottom_px: (view.bottom_px as f64 / upwards).round() as i64,
            width_px: canvas.width_px,
            height_px: canvas.height_px,
            ..view
        })
    }

    /// Returns a view with the same horizontal scale, centred on `x` (in units of the axis), with the full height of
    /// the plane.
    pub fn centred(self, view: View, x: f64) -> View {
        let centre = x / view.x_per_px;
        let left_px = (centre - f64::from(view.width_px) / 2.0).round() as i64;
        self.full_height(View { left_px, ..view })
    }

    /// Scales the byte axis to the range from 0 to the highest total of `scene` within the window, and at least to
    /// `lines` bytes. Returns `view` unchanged if the scene has no columns there, or if the change would be invisible.
    pub fn bytes_fitted(self, view: View, scene: &Scene, lines: u64) -> View {
        let columns = &scene.columns;
        let from = view.x_from_column(0.0);
        let to = view.x_from_column(f64::from(view.width_px));
        let edges = columns.edge_px.windows(2).map(|edges| match edges {
            [left, right] => [left, right].map(|&edge| scene.view.x_from_column(f64::from(edge))),
            _ => [0.0; 2],
        });
        let inside = edges.zip(&columns.total).filter(|([left, right], _)| *right > from && *left < to);
        let Some(highest) = inside.map(|(_, total)| *total).max().filter(|total| *total > 0) else { return view };
        let bytes_per_px = View::fit(1, highest.max(lines), view.width_px, view.height_px).bytes_per_px;
        let same = (bytes_per_px / view.bytes_per_px - 1.0).abs() < 1e-3 && view.bottom_px == 0;
        if same { view } else { self.clamped(View { bytes_per_px, bottom_px: 0, ..view }) }
    }

    /// Returns the area to request from the worker: the window extended by half its width on the left and right and by
    /// a quarter of its height above and below, limited to the plane.
    pub fn with_margin(self, view: View) -> View {
        self.widened(view, i64::from(view.width_px / 2), i64::from(view.height_px / 4))
    }

    /// Returns the view extended by `sideways` pixels on the left and right, and by `upwards` pixels above and below,
    /// limited to the plane.
    pub(crate) fn widened(self, view: View, sideways: i64, upwards: i64) -> View {
        let whole = self.fit_px(1, 1);
        let plane_width = (whole.x_per_px / view.x_per_px).ceil() as i64;
        let plane_height = (whole.bytes_per_px / view.bytes_per_px).ceil() as i64;
        let (right, top) = (view.left_px + i64::from(view.width_px), view.bottom_px + i64::from(view.height_px));
        let first_left = self.first_left(view.x_per_px);
        let left_px = (view.left_px - sideways).max(first_left.min(view.left_px));
        let bottom_px = (view.bottom_px - upwards).max(0);
        let far_right = (right + sideways).min(first_left + plane_width).max(right);
        let far_top = (top + upwards).min(plane_height).max(top);
        View {
            left_px,
            bottom_px,
            width_px: u32::try_from(far_right - left_px).unwrap_or(view.width_px),
            height_px: u32::try_from(far_top - bottom_px).unwrap_or(view.height_px),
            ..view
        }
    }

    /// Returns whether a scene that was requested for the window `scene` is still usable for `view`. It must have the
    /// same scale, and at least a quarter of its margin must be left on each side that is not an edge of the plane.
    pub fn is_covered(self, view: View, scene: &View) -> bool {
        let needed = self.widened(view, i64::from(view.width_px / 8), i64::from(view.height_px / 16));
        let right = |view: &View| view.left_px + i64::from(view.width_px);
        let top = |view: &View| view.bottom_px + i64::from(view.height_px);
        needed.axis == scene.axis
            && needed.x_per_px == scene.x_per_px
            && needed.bytes_per_px == scene.bytes_per_px
            && scene.left_px <= needed.left_px
            && scene.bottom_px <= needed.bottom_px
            && right(scene) >= right(&needed)
            && top(scene) >= top(&needed)
    }
}

/// Returns the zoom factor for a wheel movement in CSS pixels. One notch (100 CSS pixels) zooms by about a fifth.
pub fn wheel_factor(delta: f64) -> f64 {
    // A free-spinning wheel may report thousands of pixels. The limit prevents a single event from jumping across the
    // plane.
    (delta.clamp(-400.0, 400.0) / 550.0).exp()
}

/// Returns the start of a device's own axis. It is 0, except for the event axis if only a range of events is loaded.
pub(crate) fn device_axis_start(device: &DeviceSummary, axis: Axis) -> u64 {
    if axis == Axis::Events { device.loaded.map_or(0, |(first, _)| first.into()) } else { 0 }
}

/// Returns the end of a device's own axis, in units of the axis.
pub(crate) fn device_axis_end(device: &DeviceSummary, axis: Axis) -> u64 {
    match (axis, device.time_us) {
        (Axis::Time, Some((first, last))) => time_axis_width(last.abs_diff(first)),
        _ => device.events.saturating_add(1),
    }
}
