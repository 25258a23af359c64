//! Plans compared with brute force: the size of each allocation times its factors, summed in exact fractions.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::opened;
use crate::without::histories;

use memscape::analysis::{Changes, Factor, Factors, Outcome, PlanMembership, PlannedCurve, Ratio};
use memscape::replay::{AllocationId, DeviceHistory};
use memscape::slice::TimeSlice;
use proptest::prelude::*;
use std::cmp::Ordering;

fn factor((times, by): (u64, u64)) -> Factor {
    Factor::new(times, by).unwrap()
}

/// Runs a plan with a time slice that is exhausted at every check.
fn run_plan(
    history: &DeviceHistory,
    factors: &[Factor],
    batch: Factor,
    capacity: u64,
    of: impl Fn(AllocationId) -> PlanMembership,
) -> Outcome {
    let mut planned = PlannedCurve::new(Factors::new(factors.to_vec()).unwrap(), batch, Some(capacity));
    let (mut changes, mut has_begun) = (Changes::default(), false);
    while changes
        .step(history, &mut TimeSlice::new(&mut || false), |change| {
            if change.moment > 0 && !has_begun {
                planned.start();
                has_begun = true;
            }
            planned.add(of(change.id), change.moment, change.bytes);
        })
        .is_err()
    {}
    if !has_begun {
        planned.start();
    }
    planned.outcome()
}

/// Per event, in fractions of a byte: bytes that do not scale with the batch size, and bytes that do.
fn curves(
    history: &DeviceHistory,
    factors: &[Factor],
    parts: i128,
    of: impl Fn(AllocationId) -> PlanMembership,
) -> Vec<[i128; 2]> {
    let mut grows = vec![[0i128; 2]; history.event_count() as usize + 1];
    for (id, (allocated_at, freed_at, size)) in (0..).map(AllocationId).zip(history.allocations.spans()) {
        let PlanMembership { groups, grows: is_batch } = of(id);
        let mut bytes = i128::from(size) * parts;
        for (_, factor) in factors.iter().enumerate().filter(|(place, _)| groups >> place & 1 == 1) {
            let (times, by) = factor.parts();
            // `parts` is a multiple of every divisor.
            assert_eq!(bytes % i128::from(by), 0);
            bytes = bytes / i128::from(by) * i128::from(times);
        }
        if freed_at > allocated_at {
            grows[allocated_at as usize][usize::from(is_batch)] += bytes;
            if let Some(end) = grows.get_mut(freed_at as usize) {
                end[usize::from(is_batch)] -= bytes;
            }
        }
    }
    let sums = grows.iter().scan([0i128; 2], |sum, grows| {
        *sum = [sum[0] + grows[0], sum[1] + grows[1]];
        Some(*sum)
    });
    sums.collect()
}

fn check(
    name: &str,
    history: &DeviceHistory,
    factors: &[Factor],
    batch: Factor,
    of: impl Fn(AllocationId) -> PlanMembership,
) {
    let parts: i128 = factors.iter().map(|it| i128::from(it.parts().1)).product();
    let curves = curves(history, factors, parts, &of);
    let (times, by) = batch.parts();
    let planned = |[a, b]: [i128; 2]| a * i128::from(by) + b * i128::from(times);
    let most = curves.iter().copied().map(planned).max().unwrap();
    let moment = curves.iter().position(|&it| planned(it) == most).unwrap() as u32;
    let whole = parts * i128::from(by);
    let peak = ((most + whole - 1) / whole) as u64;
    // A capacity that some batch size fits into, and one that none fits.
    for capacity in [peak, peak / 2, 3 * peak, 1] {
        let actual = run_plan(history, factors, batch, capacity, &of);
        assert_eq!((actual.peak, actual.moment), (peak, moment), "{name}");
        let room = i128::from(capacity) * parts;
        let fits = |Ratio { numerator, denominator }: Ratio| {
            curves.iter().all(|[a, b]| a * denominator + b * numerator <= room * denominator)
        };
        match actual.fits {
            None => assert!(curves.iter().all(|[_, b]| *b <= 0), "{name}: an allocation scales with the batch"),
            Some((ratio, _)) if curves.iter().any(|[a, _]| *a > room) => assert_eq!(ratio.numerator, 0, "{name}"),
            Some((ratio, moment)) => {
                let [a, b] = curves[moment as usize];
                assert!(fits(ratio), "{name}: {ratio:?} fits into {capacity}");
                assert_eq!(
                    a * ratio.denominator + b * ratio.numerator,
                    room * ratio.denominator,
                    "{name}: next larger batch does not fit at that event"
                );
            }
        }
    }
}

fn hash(seed: u64, id: u32) -> u64 {
    (seed ^ u64::from(id)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 7
}

#[test]
fn random_plans_match_brute_force_on_real_files() {
    let Some(files) = opened::real_pickles() else { return };
    for path in files {
        let name = path.display().to_string();
        let (_, histories) = histories(&name, &std::fs::read(&path).unwrap());
        for history in &histories {
            let plans: [&[(u64, u64)]; 4] = [&[], &[(0, 1)], &[(1, 8), (2, 1)], &[(3, 7), (16, 1), (1, 1000)]];
            for (seed, plan) in (1..).zip(plans) {
                let factors: Vec<Factor> = plan.iter().copied().map(factor).collect();
                for batch in [(1, 1), (2, 1), (5, 3)].map(factor) {
                    check(&name, history, &factors, batch, |id| {
                        let hash = hash(seed, id.0);
                        PlanMembership { groups: hash as u32 & ((1 << plan.len()) - 1), grows: hash >> 9 & 3 == 0 }
                    });
                }
            }
            // No allocation scales with the batch.
            check(&name, history, &[factor((1, 2))], Factor::ONE, |id| PlanMembership {
                groups: id.0 & 1,
                grows: false,
            });
        }
    }
}

proptest! {
    #[test]
    fn ratios_are_ordered_as_fractions(a in -1000i128..1000, b in 1i128..1000, c in -1000i128..1000, d in 1i128..1000) {
        let [one, other] = [Ratio { numerator: a, denominator: b }, Ratio { numerator: c, denominator: d }];
        prop_assert_eq!(one.compare(other), (a * d).cmp(&(c * b)));
        prop_assert_eq!(other.compare(one), (c * b).cmp(&(a * d)));
    }
}

#[test]
fn largest_ratios_are_ordered_and_clamped() {
    let huge = i128::MAX / 2;
    let [one, other] =
        [Ratio { numerator: huge, denominator: huge - 1 }, Ratio { numerator: huge - 1, denominator: huge - 2 }];
    assert_eq!(
        (one.compare(other), other.compare(one), one.compare(one)),
        (Ordering::Less, Ordering::Greater, Ordering::Equal)
    );
    assert_eq!(Ratio { numerator: 10, denominator: 3 }.thousandths(), 3333);
    assert_eq!(
        (
            Ratio { numerator: -1, denominator: 3 }.thousandths(),
            Ratio { numerator: i128::MAX, denominator: 1 }.thousandths()
        ),
        (0, u64::MAX)
    );
}

#[test]
fn plan_with_overflowing_factors_is_refused() {
    assert!(Factors::new(vec![factor((1, 1_000_000)); 2]).is_some());
    assert!(Factors::new(vec![factor((1, 1_000_000)); 3]).is_none());
    assert!(Factors::new(vec![factor((1_000_000, 1)); 3]).is_none());
    assert!(Factors::new(vec![Factor::ONE; 25]).is_none());
    // The allocator's simulator queries the factor of a single allocation.
    let factors = Factors::new(vec![factor((2, 1)), factor((1, 8)), factor((3, 1))]).unwrap();
    assert_eq!(
        [0, 1, 0b011, 0b111].map(|groups| factors.of(groups)),
        [(1, 1), (2, 1), (1, 4), (3, 4)].map(|it| Some(factor(it)))
    );
}

/// Weights of 500 bytes; 400 bytes are paused while an activation of 300 bytes is live, and one of 50 bytes after they
/// are back.
fn with_paused(factors: &[Factor], paused: &[(u32, u64)]) -> Outcome {
    let factors = Factors::new(factors.to_vec()).unwrap();
    let mut planned = PlannedCurve::new(factors, Factor::ONE, Some(600)).with_paused(paused.to_vec());
    let weights = PlanMembership { groups: 1, grows: false };
    let activation = PlanMembership { groups: 0, grows: true };
    planned.start();
    for (member, moment, bytes) in [(weights, 1, 500), (activation, 2, 300), (activation, 3, -300), (activation, 4, 50)]
    {
        planned.add(member, moment, bytes);
    }
    planned.outcome()
}

#[test]
fn paused_memory_leaves_room_for_other_memory() {
    let none = with_paused(&[], &[]);
    assert_eq!((none.peak, none.moment, none.on_gpu), (800, 2, None));
    assert_eq!(none.fits, Some((Ratio { numerator: 100, denominator: 300 }, 2)));
    let paused = with_paused(&[], &[(1, 400), (3, 0)]);
    // Of 800 bytes, 400 are on the GPU. Of 550, all.
    assert_eq!((paused.peak, paused.moment, paused.on_gpu), (800, 2, Some(550)));
    assert_eq!(paused.fits, Some((Ratio { numerator: 500, denominator: 300 }, 2)));
}

#[test]
fn resumed_memory_counts_before_the_next_event() {
    // Resumed while the activation is live, without an event.
    let outcome = with_paused(&[], &[(1, 400), (2, 0)]);
    assert_eq!((outcome.on_gpu, outcome.fits.unwrap().0), (Some(800), Ratio { numerator: 100, denominator: 300 }));
    // Back at the end.
    let outcome = with_paused(&[], &[(1, 400), (9, 0)]);
    assert_eq!(outcome.on_gpu, Some(550));
    // Paused before the first event, for good.
    assert_eq!(with_paused(&[], &[(0, 400)]).on_gpu, Some(400));
    assert_eq!(with_paused(&[], &[(0, u64::MAX)]).on_gpu, Some(0));
}

#[test]
fn paused_memory_is_assumed_to_shrink_with_every_group_that_does() {
    let (quarter, double) = (factor((1, 4)), factor((2, 1)));
    // Of the paused 400 bytes, 100 are left. 125 + 300 are live.
    let outcome = with_paused(&[quarter, double], &[(1, 400), (3, 0)]);
    assert_eq!((outcome.peak, outcome.on_gpu), (425, Some(325)));
}
