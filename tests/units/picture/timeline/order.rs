//! Tests of `src/picture/timeline/order.rs`, a module of its: they reach what is private there.

use super::*;

#[test]
fn groups_stand_together_and_keep_their_order_of_birth() {
    let order = Order::grouped(&[2, 0, 2, 5, 0]);
    assert_eq!((0..5).map(|rank| order.id(rank).0).collect::<Vec<_>>(), [1, 4, 0, 2, 3]);
    for id in 0..5 {
        assert_eq!(order.id(order.rank(AllocationId(id))), AllocationId(id));
    }
    assert_eq!(Order::grouped(&[]), Order::default());
}
