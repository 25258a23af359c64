//! Growth exponents measured between two snapshots.

use super::{MeasuredScaling, SiteGrowth, exponent, growth, raised};
use crate::answer::{FactorGroup, PerSide};
use engine::protocol::{Factor, PlanGroup};

fn group(factor: f64) -> FactorGroup {
    FactorGroup { factor, sites: 1, pairs: 1, bytes: PerSide::default(), rows: Vec::new() }
}

#[test]
fn growth_is_measured_factor_closest_to_1() {
    assert_eq!(growth(&[group(16.0), group(4.0), group(1.0)]), Some(4.0));
    assert_eq!(growth(&[group(2.0), group(4.0)]), Some(2.0));
    assert_eq!(growth(&[group(1.0), group(3.0)]), Some(3.0));
    assert_eq!(growth(&[group(0.25), group(0.5)]), Some(0.5), "shorter");
    assert_eq!(growth(&[group(1.0)]), None);
}

#[test]
fn exponents_are_rounded_to_halves() {
    assert_eq!(exponent(4.0, 2.0), 2.0);
    assert_eq!(exponent(4.1, 2.0), 2.0);
    assert_eq!(exponent(1.0, 2.0), 0.0);
    assert_eq!(exponent(8.0, 4.0), 1.5);
    assert_eq!(exponent(1e30, 2.0), 4.0);
    assert_eq!(exponent(0.25, 0.5), 2.0);
}

#[test]
fn integer_powers_of_factors_are_exact() {
    let factor = |times, by| Factor::new(times, by).unwrap();
    assert_eq!(raised(factor(3, 2), 2.0), Some(factor(9, 4)));
    assert_eq!(raised(factor(4, 1), -1.0), Some(factor(1, 4)));
    assert_eq!(raised(factor(4, 1), 1.5), Some(factor(8, 1)));
    assert_eq!(raised(factor(2, 1), 0.5), Some(factor(23, 16)));
    assert_eq!(raised(factor(1_000_000, 1), 2.0), None);
}

#[test]
fn each_allocation_is_in_at_most_one_class() {
    let site = |factor, bytes| SiteGrowth { factor, bytes };
    let sites = [(7, site(4.0, 10)), (9, site(2.0, 100)), (3, site(1.0, 50)), (4, site(2.02, 1))];
    // Call sites 1 and 2 have no measurement.
    let numbers = [7, 7, 9, 3, 4, 1, 2];
    let measured = MeasuredScaling::new(2.0, sites.into_iter(), numbers.len(), |at| numbers[at]);
    let classes: Vec<_> =
        measured.classes.iter().map(|class| (class.exponent, class.sites, class.allocations[0])).collect();
    assert_eq!(classes, [(2.0, 1, 0b11), (1.0, 2, 0b10100), (0.0, 1, 0b1000)]);
    assert_eq!((measured.unmeasured[0], measured.unmeasured_sites), (0b110_0000, 2));
    let groups = measured.groups(Factor::new(3, 1).unwrap()).unwrap();
    let factors: Vec<_> = groups.iter().map(|(_, factor)| factor.quotient()).collect();
    assert_eq!(factors, [9.0, 3.0, 3.0]);
    assert!(matches!(groups.last(), Some((PlanGroup::Allocations { growing: true, .. }, _))));
    assert_eq!(
        measured.sentences(),
        [
            "Measured from A to B (×2): 2 call sites in proportion, 1 call site unchanged, 1 call site with the square.",
            "2 call sites without a measurement: their activations, temporaries and inputs are assumed to grow in proportion, the rest not at all."
        ]
    );
}
