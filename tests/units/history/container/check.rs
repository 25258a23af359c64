//! Tests of `src/history/container/check.rs`, a module of its: they reach what is private there.

use super::*;
use flate2::Crc;
use proptest::prelude::*;

#[test]
fn the_check_value_of_the_standard() {
    let mut check = Check::new();
    check.update(b"12345");
    check.update(b"6789");
    assert_eq!((check.sum(), check.amount()), (0xcbf4_3926, 9));
    check.reset();
    assert_eq!((check.sum(), check.amount()), (0, 0));
}

proptest! {
    #[test]
    fn it_is_flate2_s_however_the_bytes_are_cut(parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..100), 0..8)) {
        let (mut check, mut other) = (Check::new(), Crc::new());
        for part in &parts {
            check.update(part);
            other.update(part);
            prop_assert_eq!((check.sum(), check.amount()), (other.sum(), other.amount()));
        }
    }
}
