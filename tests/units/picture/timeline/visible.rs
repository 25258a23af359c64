//! Unit tests of `src/picture/timeline/visible.rs`.

use super::*;

#[test]
fn leave_events_are_sorted_across_slices() {
    let visible = Visible { ids: vec![7, 8, 9], enters: vec![0, 0, 1], leaves: vec![1, 2, 2], ..Visible::default() };
    let mut changes = Changes::new(2);
    while changes.sort(&visible, &mut Slice::new(&mut || false)).is_err() {}
    let of = |column| changes.of(column, 0).collect::<Vec<_>>();
    assert_eq!(of(0), [Change::Comes(0), Change::Comes(1)]);
    assert_eq!(of(1), [Change::Goes(0), Change::Comes(2)]);
}
