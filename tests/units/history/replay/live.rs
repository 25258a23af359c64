//! Unit tests of `src/history/replay/live.rs`.

use super::*;

/// Returns allocations with long and short lifetimes over 100,000 events. About `live` of them are live at a time.
fn allocations(live: u32) -> Allocations {
    let mut chance = 1u64;
    let mut below = |end: u32| {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (chance >> 33) as u32 % end
    };
    let mut spans: Vec<(u32, u32, u64)> = (0..50_000)
        .map(|_| {
            let allocated_at = below(100_000);
            (allocated_at, allocated_at + below(4 * live), u64::from(below(3)))
        })
        .chain((0..500).map(|at| (0, if at % 2 == 0 { u32::MAX } else { at * 150 }, 7)))
        .collect();
    spans.sort_by_key(|span| span.0);
    Allocations::from_spans(spans)
}

#[test]
fn live_set_is_same_with_and_without_checkpoints() {
    for live in [5, 1000, 20_000] {
        let allocations = allocations(live);
        let (mut sets, none) = (LiveSets::default(), LiveSets::default());
        let mut asked = 0;
        while sets
            .step(
                &allocations,
                100_001,
                &mut TimeSlice::new(&mut || {
                    asked += 1;
                    asked % 3 != 0
                }),
            )
            .is_err()
        {}
        assert!(sets.checkpoints.len() > 3, "{} checkpoints", sets.checkpoints.len());
        assert!(sets.ids.len() <= 100_000, "more than one id per event");
        for moment in (0..=100_001).step_by(373).chain([4095, 4096, 4097, 8192, 98_304]).map(Moment) {
            let expected: Vec<AllocationId> = (0u32..)
                .zip(allocations.spans())
                .filter(|(_, (allocated_at, freed_at, _))| (*allocated_at..*freed_at).contains(&moment.0))
                .map(|(id, _)| AllocationId(id))
                .collect();
            assert_eq!(sets.live_at(&allocations, moment).collect::<Vec<_>>(), expected, "{moment:?}");
            assert_eq!(none.live_at(&allocations, moment).collect::<Vec<_>>(), expected, "{moment:?}, no checkpoints");
        }
    }
}

#[test]
fn empty_history_has_no_live_allocations() {
    let (mut sets, allocations) = (LiveSets::default(), Allocations::default());
    assert_eq!(sets.step(&allocations, 1, &mut TimeSlice::new(&mut || true)), Ok(()));
    assert_eq!(sets.live_at(&allocations, Moment(0)).count(), 0);
}
