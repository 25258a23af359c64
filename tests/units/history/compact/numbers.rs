//! Unit tests of `src/history/compact/numbers.rs`.

use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn written_numbers_round_trip(number: u64, signed: i64, wide: i128, before: u64) {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, u128::from(number));
        put_signed(&mut bytes, i128::from(signed));
        put_difference(&mut bytes, number, before);
        // Line numbers of real snapshots fit into 64 bits and a sign.
        let wide = wide >> 2;
        put_signed(&mut bytes, wide);
        let mut numbers = NumberReader::new(&bytes);
        prop_assert_eq!((numbers.unsigned(), numbers.signed()), (number, signed));
        prop_assert_eq!((numbers.difference(before), numbers.signed_128()), (number, wide));
        prop_assert!(numbers.is_finished());
    }

    #[test]
    fn reading_past_the_end_does_not_panic(bytes: Vec<u8>) {
        let mut numbers = NumberReader::new(&bytes);
        for _ in 0..bytes.len() + 1 {
            numbers.unsigned();
        }
        prop_assert!(!numbers.is_finished());
    }
}
