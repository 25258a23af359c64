//! What the recorder adds to a snapshot, under the key `memscape` (its layout stands in `src/python/memscape/_facts.py`), and what
//! torch-snapkit adds: `source_code` and `shape_data`.
//!
//! It is kept as it was written ([`Tree`]), so that what is not understood is written again with the rest; the tables refer to it.

mod data;
mod reading;
mod tree;

pub use data::{CROP, KEYS, Recorded, Tensor};
pub use reading::read;
pub use tree::{Token, Tokens, Tree};

#[cfg(test)]
#[path = "../../../tests/units/history/recorder/mod.rs"]
mod tests;
