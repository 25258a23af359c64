//! Fuzz targets. Each public module has a `run` function that takes any bytes and panics if a property does not hold.
//!
//! `tests/fuzz/*.rs` runs them with libFuzzer, and `tests/fuzz_corpora.rs` runs them natively on the seeds.

pub(crate) mod columns;
pub(crate) mod containers;
mod digest;
mod events;
pub(crate) mod json;
pub(crate) mod open;
pub(crate) mod pickle;
mod questions;
mod snapshot_text;
mod states;
mod structured;
mod trees;

use super::pickle_writer;
