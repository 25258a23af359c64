//! Tests of `infer`.
