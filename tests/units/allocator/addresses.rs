//! Orders of addresses.

use super::{Addresses, Order};

const MIB: u64 = 1 << 20;

#[test]
fn lowest_order_fills_lowest_gap_and_highest_order_highest_gap() {
    for (order, expected) in [(Order::Lowest, 1), (Order::Highest, 3)] {
        let mut addresses = Addresses::new(order);
        let taken: Vec<u64> = (0..6).map(|_| addresses.take(20 * MIB).unwrap()).collect();
        let is_ascending = taken.windows(2).all(|pair| pair[0] < pair[1]);
        assert_eq!(is_ascending, order == Order::Lowest);
        let mut sorted = taken.clone();
        sorted.sort_unstable();
        // Two gaps: one of 20 MiB, and one of 40 MiB.
        for at in [1, 3, 4] {
            addresses.give_back(sorted[at], 20 * MIB);
        }
        let at = if order == Order::Lowest { sorted[expected] } else { sorted[4] };
        assert_eq!(addresses.take(20 * MIB), Some(at), "{order:?}");
        assert_eq!(
            addresses.take(40 * MIB),
            Some(if order == Order::Lowest { sorted[3] } else { sorted[0] - 40 * MIB })
        );
    }
}

#[test]
fn addresses_freed_next_to_unused_ones_are_reused() {
    for order in [Order::Lowest, Order::Highest] {
        let mut addresses = Addresses::new(order);
        let first = addresses.take(20 * MIB).unwrap();
        addresses.give_back(first, 20 * MIB);
        let again = addresses.take(60 * MIB).unwrap();
        assert_eq!(again, if order == Order::Lowest { first } else { first - 40 * MIB });
    }
}

#[test]
fn new_addresses_do_not_overlap_kept_segments() {
    let used = [5 << 40, 6 << 40];
    assert_eq!(Addresses::beside(Order::Lowest, [1 << 47, (1 << 47) + 1]).take(MIB), Some((1 << 47) + 2 * MIB));
    let mut below = Addresses::beside(Order::Highest, used);
    assert_eq!(below.take(4 << 40), Some(1 << 40));
    assert!(below.take(4 << 40) > Some(6 << 40), "what is below is used up");
}
