//! Unit tests of `src/picture/render/placement.rs`.

use super::*;
use crate::timeline::Axis;

fn view(x_per_px: f64, left_px: i64) -> View {
    View { axis: Axis::Events, x_per_px, bytes_per_px: 512.0, left_px, bottom_px: -3, width_px: 8, height_px: 4 }
}

#[test]
fn view_at_scale_of_scene_is_shifted_by_whole_pixels() {
    // At 2^50 pixels from the origin, f32 could not distinguish neighbouring pixels.
    let far = 1 << 50;
    let placement = Placement::new(&view(1.0 / 3.0, far), &view(1.0 / 3.0, far + 5));
    assert_eq!(placement.edges(), [-5, -4, -3, -2, -1, 0, 1, 2, 3, 0, 1, 2, 3, 4]);
    assert_eq!((placement.column(7), placement.row(1)), (2, 1));
}

#[test]
fn edges_at_another_scale_are_rounded() {
    // Half the scale: the plane's edges −3..=5 become −1.5..=2.5, rounded half away from zero.
    let placement = Placement::new(&view(2.0, -3), &view(4.0, -3));
    assert_eq!(&placement.edges()[..9], [1, 2, 2, 3, 4, 4, 5, 5, 6]);
}

#[test]
fn edges_outside_the_scene_are_clamped() {
    let placement = Placement::new(&view(1.0, 0), &view(1.0, 0));
    assert_eq!([placement.column(-9), placement.column(9), placement.row(-1), placement.row(99)], [0, 8, 0, 4]);
}

#[test]
fn invalid_view_does_not_panic() {
    let placement = Placement::new(&view(f64::NAN, i64::MAX), &view(0.0, i64::MIN));
    assert_eq!(placement.edges().len(), 14);
}
