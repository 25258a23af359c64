//! Unit tests of `src/picture/timeline/visible.rs`.

use super::*;

#[test]
fn leave_events_are_sorted_across_slices() {
    let visible = Visible { ids: vec![7, 8, 9], enters: vec![0, 0, 1], leaves: vec![1, 2, 2], ..Visible::default() };
    let mut changes = Changes::new(2);
    while changes.sort(&visible, &mut TimeSlice::new(&mut || false)).is_err() {}
    let of = |column| changes.in_column(column, 0).collect::<Vec<_>>();
    assert_eq!(of(0), [Change::Enter(0), Change::Enter(1)]);
    assert_eq!(of(1), [Change::Leave(0), Change::Enter(2)]);
}
