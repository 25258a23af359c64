//! Tests of `src/ui/features/what_if.rs`, a module of its own.
