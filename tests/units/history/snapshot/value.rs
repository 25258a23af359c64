//! Tests of `src/history/snapshot/value.rs`, a module of its: they reach what is private there.

use super::*;

#[test]
fn every_kind_survives_its_bits() {
    for (at, kind) in KINDS.into_iter().enumerate() {
        assert_eq!(kind as usize, at);
        assert_eq!(Value::new(kind, u32::MAX).kind(), kind);
        assert_eq!(Value::new(kind, 7).as_kind(kind), Some(7));
    }
}

#[test]
fn integers_of_59_bits_fit() {
    for value in [0, 1, -1, 1 << 57, (1 << 58) - 1, -(1 << 58)] {
        assert_eq!(Value::int(value).unwrap().small_int(), value);
    }
    for value in [1 << 58, -(1 << 58) - 1, i64::MAX, i64::MIN] {
        assert_eq!(Value::int(value), None);
    }
}
