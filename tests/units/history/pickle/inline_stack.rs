//! Unit tests of `src/history/pickle/inline_stack.rs`.

use super::*;

#[test]
fn inline_stack_behaves_like_vector() {
    let mut stack = InlineStack::new();
    (0..10).for_each(|value| stack.push(value));
    stack.remove(2, 7);
    assert_eq!(*stack, [0, 1, 7, 8, 9]);
    assert_eq!((stack.pop(), stack.len()), (Some(9), 4));
    stack.truncate(9);
    stack.truncate(1);
    stack.push(5);
    assert_eq!((&*stack, stack.get(2)), (&[0, 5][..], None));
    stack.truncate(0);
    assert_eq!((stack.pop(), stack.len()), (None, 0));
}
