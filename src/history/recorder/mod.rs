//! Data that recorders add to a snapshot: memscape's key `memscape` (its layout is documented in
//! `src/python/memscape/_facts.py`), and torch-snapkit's `source_code` and `shape_data`.
//!
//! All values are kept as written ([`ValueTree`]), so that unknown parts are preserved when the snapshot is saved
//! again. The tables refer to these values.

mod data;
mod observed;
mod observed_queries;
mod observed_reading;
mod reading;
mod tree;

pub use data::{CROP_KEY, RECORDER_KEYS, RecorderData, Tensor};
pub use observed::{Holder, Observed, PausedBytes, Sample};
pub use reading::parse_recorder;
pub use tree::{Token, Tokens, ValueTree};

#[cfg(test)]
#[path = "../../../tests/units/history/recorder/mod.rs"]
mod tests;
