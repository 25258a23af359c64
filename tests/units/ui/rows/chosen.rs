//! Unit tests of `src/ui/features/rows/row_selection.rs`.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

proptest! {
    #[test]
    fn selected_rows_behave_like_a_set(steps in prop::collection::vec((0u32..12, 0u8..6), 0..40)) {
        let (mut chosen, mut plain, mut anchor) = (RowSelection::default(), BTreeSet::new(), None);
        for (row, what) in steps {
            match what {
                0 => { chosen.select_only(row); plain = BTreeSet::from([row]); anchor = Some(row); }
                1 => {
                    chosen.extend_to(row);
                    let from = anchor.unwrap_or(row);
                    plain = (from.min(row)..=from.max(row)).collect();
                    anchor = Some(from);
                }
                _ => {
                    chosen.toggle(row);
                    if !plain.remove(&row) { plain.insert(row); }
                    anchor = Some(row);
                }
            }
            prop_assert_eq!(chosen.count() as usize, plain.len());
            prop_assert!((0..14).all(|row| chosen.contains(row) == plain.contains(&row)));
            prop_assert!(chosen.ranges().windows(2).all(|pair| pair[0][1] < pair[1][0]), "{:?}", chosen);
            prop_assert_eq!(chosen.active(), Some(row));
        }
    }
}
