//! Tests of `grade`.
