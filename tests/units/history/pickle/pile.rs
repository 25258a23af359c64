//! Unit tests of `src/history/pickle/pile.rs`.

use super::*;

#[test]
fn inline_stack_behaves_like_vector() {
    let mut pile = InlineStack::new();
    (0..10).for_each(|value| pile.push(value));
    pile.remove(2, 7);
    assert_eq!(*pile, [0, 1, 7, 8, 9]);
    assert_eq!((pile.pop(), pile.len()), (Some(9), 4));
    pile.truncate(9);
    pile.truncate(1);
    pile.push(5);
    assert_eq!((&*pile, pile.get(2)), (&[0, 5][..], None));
    pile.truncate(0);
    assert_eq!((pile.pop(), pile.len()), (None, 0));
}
