//! Growth exponents measured between two snapshots.

use super::{Law, MeasuredScaling, SiteGrowth, growth, raised};
use protocol::{Factor, PlanGroup};

fn law(factor: f64, growth: f64) -> (f64, f64) {
    let Law { exponent, share } = Law::new(factor, growth);
    (exponent, share)
}

#[test]
fn growth_is_factor_of_most_bytes_or_its_root() {
    let measured = |sizes: &[[u64; 2]]| growth(sizes.iter().copied());
    assert_eq!(measured(&[[10, 160], [10, 40], [900, 900]]), Some(4.0), "16 is the square of 4");
    assert_eq!(measured(&[[100, 200], [10, 40]]), Some(2.0));
    assert_eq!(measured(&[[50, 50], [10, 30], [1, 2]]), Some(3.0));
    assert_eq!(measured(&[[100, 25], [100, 50]]), Some(0.5), "shorter");
    assert_eq!(measured(&[[1000, 2000], [10, 14]]), Some(2.0), "1.4 is the root of too few bytes");
    assert_eq!(measured(&[[10, 10], [0, 5]]), None);
}

#[test]
fn sizes_are_split_into_fixed_and_growing_shares() {
    assert_eq!(law(1.0, 2.0), (0.0, 0.0));
    assert_eq!(law(1.5, 2.0), (0.0, 0.5), "half is fixed");
    assert_eq!(law(2.0, 2.0), (1.0, 0.0));
    assert_eq!(law(3.0, 2.0), (1.0, 0.5), "n/2 + n²/2 at n = 2");
    assert_eq!(law(4.1, 2.0), (2.0, 0.0));
    assert_eq!(law(0.25, 0.5), (2.0, 0.0));
    assert_eq!(law(0.75, 0.5), (0.0, 0.5));
    assert_eq!(law(8.0, 2.0), (3.0, 0.0));
    assert_eq!(law(0.5, 2.0), (-1.0, 0.0));
    assert_eq!(law(1e30, 2.0), (4.0, 0.0));
    let factor = |factor: f64, by: u64| Law::new(factor, 2.0).factor(Factor::new(by, 1).unwrap()).unwrap().quotient();
    assert_eq!([factor(1.5, 4), factor(3.0, 4), factor(4.0, 4)], [2.5, 10.0, 16.0]);
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
    // Allocation 3 has a partner of twice its size, and allocation 5 one that is not the same allocation.
    let pairs = [(0, 4.0), (3, 2.0), (5, 300.0)];
    let measured =
        MeasuredScaling::new(2.0, sites.into_iter(), numbers.len(), |index| numbers[index], pairs.into_iter());
    let classes: Vec<_> =
        measured.classes.iter().map(|class| (class.law.exponent, class.sites, class.allocations[0])).collect();
    assert_eq!(classes, [(2.0, 1, 0b11), (1.0, 2, 0b11100), (0.0, 1, 0)]);
    assert_eq!((measured.unmeasured[0], measured.unmeasured_sites), (0b110_0000, 2));
    let groups = measured.groups(Factor::new(3, 1).unwrap()).unwrap();
    let factors: Vec<_> = groups.iter().map(|(_, factor)| factor.quotient()).collect();
    assert_eq!(factors, [9.0, 3.0, 3.0]);
    assert!(matches!(groups.last(), Some((PlanGroup::Allocations { growing: true, .. }, _))));
    assert_eq!(
        measured.sentences(),
        [
            "Measured from A to B (×2): 2 call sites in proportion, 1 call site unchanged, 1 call site with the square.",
            "2 call sites without a measurement: what grows with the batch is assumed to grow in proportion, the rest not at all."
        ]
    );
}
