//! Moving the window over the plane, and which geometry it needs.
//!
//! ```text
//!   ┌─────────── plane: events + 1 wide, `Extent::bytes` high ───────────┐
//!   │        ┌─────── asked for: window + margin ───────┐                │
//!   │        │       ┌──── window: the canvas ────┐      │                │
//! ```
//! The window never leaves the plane, and "everything" is as far as it zooms out: no gesture ends in an empty picture.

use super::state::{BytesAxis, Canvas, State};
use crate::engine::protocol::DeviceSummary;
use crate::timeline::{Scene, View};
use crate::units::Moment;

/// Device pixels a moment is at most wide: enough to read single events.
const WIDEST_MOMENT_PX: f64 = 64.0;
/// Device pixels a byte is at most high.
const HIGHEST_BYTE_PX: f64 = 1.0 / 16.0;
/// Free space above the highest stack, as a part of the window's height.
const HEADROOM: f64 = 17.0 / 16.0;

/// The size of the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Moments; at least 1.
    pub moments: f64,
    /// Bytes to show, headroom not included; at least 1.
    pub bytes: f64,
}

impl Extent {
    /// The plane of a device. The reserved curve belongs to the picture, unless it would press the stack into its lower half.
    pub fn of(device: &DeviceSummary) -> Extent {
        let drawn = device.drawn_peak.max(1);
        let reserved = u64::try_from(device.peak_reserved).unwrap_or(0);
        let bytes = if reserved / 2 <= drawn || device.drawn_peak == 0 { drawn.max(reserved) } else { drawn };
        Extent { moments: device.events as f64 + 1.0, bytes: bytes as f64 }
    }

    /// Everything in the window.
    pub fn fit(self, canvas: Canvas) -> View {
        View {
            moments_per_px: self.moments / f64::from(canvas.width_px),
            bytes_per_px: self.bytes * HEADROOM / f64::from(canvas.height_px),
            left_px: 0,
            bottom_px: 0,
            width_px: canvas.width_px,
            height_px: canvas.height_px,
        }
    }

    /// The nearest view inside the plane.
    fn clamped(self, mut view: View) -> View {
        let last_left = (self.moments / view.moments_per_px).round() as i64 - i64::from(view.width_px);
        let last_bottom = (self.bytes * HEADROOM / view.bytes_per_px).round() as i64 - i64::from(view.height_px);
        view.left_px = view.left_px.clamp(0, last_left.max(0));
        view.bottom_px = view.bottom_px.clamp(0, last_bottom.max(0));
        view
    }

    /// Zooms the events: `factor` > 1 shows more of them. The moment at `column` stays there.
    pub fn zoom_events(self, view: View, column: f64, factor: f64) -> View {
        let widest = self.moments / f64::from(view.width_px);
        let moments_per_px = (view.moments_per_px * factor).min(widest).max((1.0 / WIDEST_MOMENT_PX).min(widest));
        let moment = view.moment_from_column(column);
        let left_px = (moment / moments_per_px - column).round() as i64;
        self.clamped(View { moments_per_px, left_px, ..view })
    }

    /// Zooms the bytes: `factor` > 1 shows more of them. The byte at `row` stays there.
    pub fn zoom_bytes(self, view: View, row: f64, factor: f64) -> View {
        let highest = self.bytes * HEADROOM / f64::from(view.height_px);
        let bytes_per_px = (view.bytes_per_px * factor).min(highest).max(HIGHEST_BYTE_PX.min(highest));
        let byte = view.bytes_from_row(row);
        let bottom_px = (byte / bytes_per_px - row).round() as i64;
        self.clamped(View { bytes_per_px, bottom_px, ..view })
    }

    /// Moves the window by so many device pixels, right and up.
    pub fn moved(self, view: View, right_px: f64, up_px: f64) -> View {
        let left_px = view.left_px.saturating_add(right_px.round() as i64);
        let bottom_px = view.bottom_px.saturating_add(up_px.round() as i64);
        self.clamped(View { left_px, bottom_px, ..view })
    }

    /// The same moments and bytes on a canvas of another size.
    pub fn resized(self, view: View, canvas: Canvas) -> View {
        let sideways = f64::from(view.width_px) / f64::from(canvas.width_px);
        let upwards = f64::from(view.height_px) / f64::from(canvas.height_px);
        self.clamped(View {
            moments_per_px: view.moments_per_px * sideways,
            bytes_per_px: view.bytes_per_px * upwards,
            left_px: (view.left_px as f64 / sideways).round() as i64,
            bottom_px: (view.bottom_px as f64 / upwards).round() as i64,
            width_px: canvas.width_px,
            height_px: canvas.height_px,
        })
    }

    /// The window around `moment`, at the scale of `view`, with the whole stack there.
    pub fn centred(self, view: View, moment: Moment) -> View {
        let centre = (f64::from(moment.0) + 0.5) / view.moments_per_px;
        let left_px = (centre - f64::from(view.width_px) / 2.0).round() as i64;
        let highest = self.bytes * HEADROOM / f64::from(view.height_px);
        self.clamped(View { left_px, bytes_per_px: highest, bottom_px: 0, ..view })
    }

    /// The window with the bytes axis from 0 to the highest total that `scene` has in it. Unchanged where the scene does not
    /// reach, or where the change would be too small to see.
    pub fn bytes_fitted(self, view: View, scene: &Scene) -> View {
        let columns = &scene.columns;
        let from = view.moment_from_column(0.0);
        let to = view.moment_from_column(f64::from(view.width_px));
        let inside = columns.moment.iter().zip(&columns.total).filter(|(moment, _)| {
            let moment = f64::from(**moment);
            moment + 1.0 > from && moment < to
        });
        let Some(highest) = inside.map(|(_, total)| *total).max().filter(|total| *total > 0) else { return view };
        let bytes_per_px = highest as f64 * HEADROOM / f64::from(view.height_px);
        let fitted = View { bytes_per_px, bottom_px: 0, ..view };
        let same = (bytes_per_px / view.bytes_per_px - 1.0).abs() < 1e-3 && view.bottom_px == 0;
        if same { view } else { self.clamped(fitted) }
    }

    /// The part of the plane to ask for: the window with half a window on both sides and a quarter above and below, as far as
    /// the plane goes.
    pub fn with_margin(self, view: View) -> View {
        self.widened(view, i64::from(view.width_px / 2), i64::from(view.height_px / 4))
    }

    fn widened(self, view: View, sideways: i64, upwards: i64) -> View {
        // The plane in pixels, headroom included, but never less than the window itself.
        let plane_width = (self.moments / view.moments_per_px).ceil() as i64;
        let plane_height = (self.bytes * HEADROOM / view.bytes_per_px).ceil() as i64;
        let (right, top) = (view.left_px + i64::from(view.width_px), view.bottom_px + i64::from(view.height_px));
        let left_px = (view.left_px - sideways).max(0).min(view.left_px);
        let bottom_px = (view.bottom_px - upwards).max(0).min(view.bottom_px);
        let far_right = (right + sideways).min(plane_width).max(right);
        let far_top = (top + upwards).min(plane_height).max(top);
        View {
            left_px,
            bottom_px,
            width_px: u32::try_from(far_right - left_px).unwrap_or(view.width_px),
            height_px: u32::try_from(far_top - bottom_px).unwrap_or(view.height_px),
            ..view
        }
    }

    /// Whether `scene` still serves `view`: same scale, and a quarter of the margin left on every side where the plane goes on.
    pub fn is_served(self, view: View, scene: &View) -> bool {
        let needed = self.widened(view, i64::from(view.width_px / 8), i64::from(view.height_px / 16));
        let right = |view: &View| view.left_px + i64::from(view.width_px);
        let top = |view: &View| view.bottom_px + i64::from(view.height_px);
        needed.moments_per_px == scene.moments_per_px
            && needed.bytes_per_px == scene.bytes_per_px
            && scene.left_px <= needed.left_px
            && scene.bottom_px <= needed.bottom_px
            && right(scene) >= right(&needed)
            && top(scene) >= top(&needed)
    }
}

/// The zoom factor of a wheel turn: a notch (100 CSS pixels) is a fifth.
pub fn wheel_factor(delta: f64) -> f64 {
    // A free-spinning wheel may report thousands; one event should not throw the user across the plane.
    (delta.clamp(-400.0, 400.0) / 550.0).exp()
}

impl State {
    /// The plane of the shown device.
    pub fn extent(&self) -> Option<Extent> {
        self.device().map(Extent::of)
    }

    /// Replaces the window by what `change` makes of it, and keeps the bytes axis fitted where that is wanted.
    pub(super) fn navigate(&mut self, change: impl FnOnce(Extent, View) -> View) {
        let (Some(extent), Some(view)) = (self.extent(), self.view) else { return };
        self.view = Some(change(extent, view));
        self.fit_bytes_if_wanted();
    }

    /// Fits the bytes axis to the window where that is wanted.
    pub(super) fn fit_bytes_if_wanted(&mut self) {
        let (Some(extent), Some(view), Some(scene)) = (self.extent(), self.view, &self.geometry.scene) else { return };
        if self.bytes_axis == BytesAxis::FitsWindow {
            self.view = Some(extent.bytes_fitted(view, scene));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CANVAS: Canvas = Canvas { width_px: 800, height_px: 400, scale: 1.0 };
    const EXTENT: Extent = Extent { moments: 100_001.0, bytes: 80e9 };

    #[test]
    fn everything_fits_and_is_the_limit() {
        let fit = EXTENT.fit(CANVAS);
        assert_eq!(EXTENT.zoom_events(fit, 400.0, 1.5), fit);
        assert_eq!(EXTENT.zoom_bytes(fit, 10.0, 1.5), fit);
        assert_eq!(EXTENT.moved(fit, 50.0, -50.0), fit);
        assert_eq!(EXTENT.with_margin(fit), fit, "beyond the plane there is nothing to ask for");
        assert!(EXTENT.is_served(fit, &fit));
    }

    #[test]
    fn reserved_is_in_the_picture_while_it_is_comparable() {
        let device = |drawn_peak, peak_reserved| DeviceSummary { drawn_peak, peak_reserved, ..Default::default() };
        assert_eq!(Extent::of(&device(100, 150)).bytes, 150.0);
        assert_eq!(Extent::of(&device(100, 5000)).bytes, 100.0);
        assert_eq!(Extent::of(&device(0, 5000)).bytes, 5000.0);
        assert_eq!(Extent::of(&device(0, 0)), Extent { moments: 1.0, bytes: 1.0 });
    }

    proptest! {
        #[test]
        fn the_point_under_the_cursor_stays(column in 0.0..800.0, row in 0.0..400.0, factor in 0.2f64..0.9) {
            let middle = EXTENT.zoom_events(EXTENT.fit(CANVAS), 400.0, 0.1);
            let zoomed = EXTENT.zoom_events(middle, column, factor);
            let moment = middle.moment_from_column(column);
            prop_assert!((zoomed.column_from_moment(moment) - column).abs() <= 1.0);
            let zoomed = EXTENT.zoom_bytes(middle, row, factor);
            let byte = middle.bytes_from_row(row);
            prop_assert!((byte / zoomed.bytes_per_px - zoomed.bottom_px as f64 - row).abs() <= 1.0);
        }

        #[test]
        fn no_gesture_leaves_the_plane(steps in proptest::collection::vec((0..4, -2000.0..2000.0f64, 0.1..10.0f64), 0..20)) {
            let mut view = EXTENT.fit(CANVAS);
            for (what, place, factor) in steps {
                view = match what {
                    0 => EXTENT.zoom_events(view, place, factor),
                    1 => EXTENT.zoom_bytes(view, place, factor),
                    2 => EXTENT.moved(view, place, -place),
                    _ => EXTENT.resized(view, Canvas { width_px: (place.abs() as u32).max(1), ..CANVAS }),
                };
                prop_assert!(view.left_px >= 0 && view.bottom_px >= 0);
                prop_assert!(view.moment_from_column(0.0) < EXTENT.moments);
                let asked = EXTENT.with_margin(view);
                prop_assert!(EXTENT.is_served(view, &asked), "what is asked for must be enough: {view:?} {asked:?}");
            }
        }
    }
}
