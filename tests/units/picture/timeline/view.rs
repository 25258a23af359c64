//! Unit tests of `src/picture/timeline/view.rs`.

use super::*;
use proptest::prelude::*;

const EXTENT: Extent = Extent { width: 1_000_000, bytes: 80 << 30 };

proptest! {
    #[test]
    fn zoom_keeps_point_under_pointer(
        steps in prop::collection::vec((0.0..1920.0f64, 0.0..1080.0f64, 0.2..5.0f64), 1..30),
    ) {
        let mut view = View::fit(EXTENT.width, EXTENT.bytes, 1920, 1080);
        for (column, row, factor) in steps {
            let (moment, bytes) = (view.x_from_column(column), view.bytes_from_row(row));
            view = view.zoomed_x(column, factor, EXTENT).zoomed_bytes(row, 1.0 / factor, EXTENT);
            prop_assert!((view.column_from_x(moment) - column).abs() <= 1.0);
            prop_assert!((bytes / view.bytes_per_px - view.bottom_px as f64 - row).abs() <= 1.0);
            prop_assert!(view.x_per_px >= MIN_X_PER_PX && view.bytes_per_px >= MIN_BYTES_PER_PX);
            prop_assert!(view.x_per_px * 1920.0 <= 1.5001 * EXTENT.width as f64);
            prop_assert!(view.bytes_per_px * 1080.0 <= 1.5001 * EXTENT.bytes as f64);
        }
    }
}

#[test]
fn rows_are_rounded_after_scaling() {
    let view = View { bytes_per_px: 10.0, bottom_px: 2, ..View::fit(1, 1, 1, 1) };
    assert_eq!([0, 4, 5, 14, 25].map(|bytes| view.row_from_bytes(bytes)), [-2, -2, -1, -1, 1]);
}

#[test]
fn invalid_zoom_factors_are_clamped() {
    let view = View::fit(EXTENT.width, EXTENT.bytes, 100, 100);
    for factor in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        let zoomed = view.zoomed_x(0.0, factor, EXTENT).zoomed_bytes(0.0, factor, EXTENT);
        assert!(zoomed.x_per_px > 0.0 && zoomed.bytes_per_px > 0.0);
    }
}
