//! Mapping of positions between the time axes of two lanes.

use super::map_position;
use protocol::PairMap;

fn map() -> PairMap {
    PairMap { align: None, moments: vec![(0, 0), (10, 100), (20, 110), (30, 110), (40, 120)] }
}

#[test]
fn position_maps_to_other_axis_and_back() {
    let map = map();
    for (a, b) in [(0.0, 0.0), (5.0, 50.0), (10.0, 100.0), (15.0, 105.0), (40.0, 120.0)] {
        assert!((map_position(&map, a, true) - b).abs() < 1e-9, "{a}");
        assert!((map_position(&map, b, false) - a).abs() < 1e-9, "{b}");
    }
    // A range without a counterpart maps to one position.
    assert!((map_position(&map, 25.0, true) - 110.0).abs() < 1e-9);
}

#[test]
fn positions_beyond_the_ends_are_extrapolated() {
    let map = map();
    assert!((map_position(&map, -3.0, true) + 3.0).abs() < 1e-9);
    assert!((map_position(&map, 44.0, true) - 124.0).abs() < 1e-9);
    assert!((map_position(&PairMap::default(), 7.0, true) - 7.0).abs() < 1e-9);
}
