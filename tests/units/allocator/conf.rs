//! Tests of `conf`.
