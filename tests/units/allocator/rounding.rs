//! Tests of `rounding`.
