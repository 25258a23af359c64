//! Unit tests of `src/history/snapshot/value.rs`.

use super::*;

#[test]
fn kind_round_trips_through_value_bits() {
    for (at, kind) in KINDS.into_iter().enumerate() {
        assert_eq!(kind as usize, at);
        assert_eq!(Value::new(kind, u32::MAX).kind(), kind);
        assert_eq!(Value::new(kind, 7).as_kind(kind), Some(7));
    }
}

#[test]
fn small_integers_have_59_bits() {
    for value in [0, 1, -1, 1 << 57, (1 << 58) - 1, -(1 << 58)] {
        assert_eq!(Value::int(value).unwrap().small_int(), value);
    }
    for value in [1 << 58, -(1 << 58) - 1, i64::MAX, i64::MIN] {
        assert_eq!(Value::int(value), None);
    }
}
