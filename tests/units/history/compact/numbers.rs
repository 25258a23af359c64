//! Tests of `src/history/compact/numbers.rs`, a module of its: they reach what is private there.

use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn numbers_come_back(number: u64, signed: i64, wide: i128, before: u64) {
        let mut bytes = Vec::new();
        put(&mut bytes, u128::from(number));
        put_signed(&mut bytes, i128::from(signed));
        put_difference(&mut bytes, number, before);
        // Real lines have 64 bits, of either sign.
        let wide = wide >> 2;
        put_signed(&mut bytes, wide);
        let mut numbers = Numbers::new(&bytes);
        prop_assert_eq!((numbers.number(), numbers.signed()), (number, signed));
        prop_assert_eq!((numbers.difference(before), numbers.wide()), (number, wide));
        prop_assert!(numbers.is_over());
    }

    #[test]
    fn any_bytes_are_numbers_or_unsound(bytes: Vec<u8>) {
        let mut numbers = Numbers::new(&bytes);
        for _ in 0..bytes.len() + 1 {
            numbers.number();
        }
        prop_assert!(!numbers.is_over());
    }
}
