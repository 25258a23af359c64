//! Unit tests of `src/picture/timeline/order.rs`.

use super::*;

#[test]
fn groups_are_contiguous_in_allocation_order() {
    let order = Order::grouped(&[2, 0, 2, 5, 0]);
    assert_eq!((0..5).map(|rank| order.id(rank).0).collect::<Vec<_>>(), [1, 4, 0, 2, 3]);
    for id in 0..5 {
        assert_eq!(order.id(order.rank(AllocationId(id))), AllocationId(id));
    }
    assert_eq!(Order::grouped(&[]), Order::default());
}
