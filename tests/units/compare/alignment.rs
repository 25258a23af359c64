//! Maps between the events of two aligned traces.

use super::*;
use proptest::prelude::*;

fn of(steps: &[(u32, u32)], rest: (u32, u32)) -> (Alignment, (u32, u32)) {
    let mut alignment = Alignment::new();
    let (mut a, mut b) = (0, 0);
    for &(one, other) in steps {
        (a, b) = (a + one, b + other);
        alignment.add(a, b);
    }
    let end = (a + rest.0, b + rest.1);
    alignment.end(end.0, end.1);
    (alignment, end)
}

proptest! {
    #[test]
    fn maps_are_monotone_and_reach_both_ends(
        steps in prop::collection::vec((0u32..9, 0u32..9), 0..40),
        rest in (0u32..20, 0u32..20),
    ) {
        let (alignment, end) = of(&steps, rest);
        let there: Vec<u32> = (0..=end.0).map(|moment| alignment.to_b(Moment(moment)).0).collect();
        let back: Vec<u32> = (0..=end.1).map(|moment| alignment.to_a(Moment(moment)).0).collect();
        prop_assert!(there.is_sorted() && back.is_sorted());
        prop_assert_eq!(there.last().copied(), Some(end.1));
        prop_assert_eq!(back.last().copied(), Some(end.0));
    }
}

#[test]
fn equal_distances_map_each_event_to_itself() {
    let (alignment, end) = of(&[(3, 3), (1, 1), (7, 7)], (5, 5));
    assert!((0..=end.0).all(|moment| alignment.to_b(Moment(moment)) == Moment(moment)));
}

#[test]
fn positions_between_anchors_are_interpolated() {
    let (alignment, _) = of(&[(10, 40)], (10, 10));
    let map = |moment| alignment.to_b(Moment(moment)).0;
    assert_eq!([map(0), map(5), map(10), map(15), map(20)], [0, 20, 40, 45, 50]);
}
