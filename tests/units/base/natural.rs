//! Unit tests of `src/base/natural.rs`.

use super::*;
use proptest::prelude::*;

#[test]
fn numbers_in_names_compare_by_value() {
    let sorted = [
        "",
        "1",
        "2.pickle",
        "10.pickle",
        "a",
        "rank-1",
        "rank2",
        "rank10",
        "rank18446744073709551616",
        "rank18446744073709551617",
        "step1/rank10",
        "step2/rank1",
        "step10/rank1",
        "ä2",
        "ä10",
    ];
    for pair in sorted.windows(2) {
        assert_eq!(compare_names(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        assert_eq!(compare_names(pair[1], pair[0]), Ordering::Greater, "{pair:?}");
    }
    assert_eq!(compare_names("rank02", "rank2"), Ordering::Less);
    assert_eq!(compare_names("rank02", "rank10"), Ordering::Less);
}

proptest! {
    #[test]
    fn natural_order_is_total(mut names in proptest::collection::vec("[a0-1/]{0,5}", 3)) {
        names.sort_by(|one, other| compare_names(one, other));
        prop_assert!(compare_names(&names[0], &names[2]) != Ordering::Greater);
        for (one, other) in [(0, 1), (1, 2), (0, 2)] {
            let ordering = compare_names(&names[one], &names[other]);
            prop_assert_eq!(ordering, compare_names(&names[other], &names[one]).reverse());
            prop_assert_eq!(ordering == Ordering::Equal, names[one] == names[other]);
        }
    }
}
