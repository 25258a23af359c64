//! Changes of the recorded program whose effect is simulated.

use serde::{Deserialize, Serialize};

/// Changes of the recorded program. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// True if all work is done on one stream.
    pub one_stream: bool,
    /// True if tensors are not marked as used by other streams with `record_stream()`, so that frees complete at once.
    pub no_record_stream: bool,
    /// Size, in bytes, of a block that is allocated and freed before the first request. 0 if none.
    pub preallocate: u64,
    /// Indices of the events before which `empty_cache()` is called, ascending.
    pub empty_cache_before: Vec<u32>,
}

impl Program {
    /// Returns true if anything is changed.
    pub fn changes(&self) -> bool {
        *self != Program::default()
    }

    /// Returns true if frees do not wait for other streams.
    pub(crate) fn frees_at_once(&self) -> bool {
        self.one_stream || self.no_record_stream
    }
}
