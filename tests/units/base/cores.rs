//! Unit tests of work on all cores.

use super::*;

#[test]
fn results_are_in_the_order_of_the_items() {
    for count in [0, 1, 2, 1000] {
        let items: Vec<u64> = (0..count).collect();
        let squares: Vec<u64> = items.iter().map(|item| item * item).collect();
        assert_eq!(map_on_all_cores(&items, |item| item * item), squares);
    }
}

#[test]
#[should_panic = "item 7"]
fn panic_of_an_item_ends_the_work() {
    map_on_all_cores(&(0..100).collect::<Vec<u32>>(), |&item| assert_ne!(item, 7, "item 7"));
}
