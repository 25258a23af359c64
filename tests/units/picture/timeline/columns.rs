//! Unit tests of `src/picture/timeline/columns.rs`.

use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn columns_tile_window_and_cover_all_moments(
        x_per_px in prop_oneof![0.01..1.0f64, 1.0..40.0f64, Just(1.0), Just(2.0), Just(2.5)],
        left_px in -30i64..200,
        width_px in 1u32..60,
        moment_count in 1u32..300,
    ) {
        let view = View { x_per_px, left_px, width_px, ..View::fit(1, 1, 1, 1) };
        let grid = Grid::new(&view, moment_count, None);
        let visible = |moment: u32| {
            let edge = |moment: u32| (f64::from(moment) / x_per_px - left_px as f64, f64::from(width_px));
            edge(moment + 1).0 > 0.5 && edge(moment).0 < edge(moment).1 - 0.5
        };
        for column in 0..grid.len() {
            prop_assert!(grid.edge_px(column) < grid.edge_px(column + 1));
            prop_assert!(!grid.moments(column).is_empty() && grid.moments(column).end <= moment_count);
            if column > 0 {
                let (before, this) = (grid.moments(column - 1), grid.moments(column));
                prop_assert!(before.start <= this.start && before.end >= this.start && before.end <= this.start + 1);
            }
        }
        for moment in (0..moment_count).filter(|&moment| visible(moment)) {
            prop_assert!(grid.all_moments().contains(&moment), "{moment} {:?}", grid.all_moments());
            let column = grid.column_of(moment);
            prop_assert!(grid.moments(column).contains(&moment));
        }
    }
}

#[test]
fn invalid_view_has_no_columns() {
    for x_per_px in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let view = View { x_per_px, ..View::fit(10, 10, 10, 10) };
        assert_eq!(Grid::new(&view, 10, None).len(), 0);
    }
    let view = View { left_px: i64::MAX, bottom_px: i64::MIN, width_px: u32::MAX, ..View::fit(10, 10, 10, 10) };
    assert_eq!(Grid::new(&view, 10, None).len(), 0);
}
