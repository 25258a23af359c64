//! Unit tests of `src/history/container/crc32.rs`.

use super::*;
use flate2::Crc;
use proptest::prelude::*;

#[test]
fn crc32_matches_standard_check_value() {
    let mut check = Crc32::new();
    check.update(b"12345");
    check.update(b"6789");
    assert_eq!((check.sum(), check.length()), (0xcbf4_3926, 9));
    check.reset();
    assert_eq!((check.sum(), check.length()), (0, 0));
}

proptest! {
    #[test]
    fn crc32_matches_flate2_for_any_chunks(parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..100), 0..8)) {
        let (mut check, mut other) = (Crc32::new(), Crc::new());
        for part in &parts {
            check.update(part);
            other.update(part);
            prop_assert_eq!((check.sum(), check.length()), (other.sum(), other.amount()));
        }
    }
}
