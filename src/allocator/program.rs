//! Changes to the recorded program, for a simulation of their effect.

use super::recording::Recording;
use base::units::Bytes;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Changes to the recorded program. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// True if all work is done on one stream.
    pub one_stream: bool,
    /// True if tensors are not marked as used by other streams with `record_stream()`, so that frees complete at once.
    pub no_record_stream: bool,
    /// Size, in bytes, of a block that is allocated and freed before the first request. 0 if none.
    pub preallocate: u64,
    /// `empty_cache()` is called before each event of [`Recording::step_ends`].
    pub empty_cache_at_step_ends: bool,
    /// Indices of the events, ascending, before which `empty_cache()` is called.
    pub empty_cache_before: Vec<u32>,
}

impl Program {
    /// Returns true if anything is changed.
    pub fn changes(&self) -> bool {
        *self != Program::default()
    }

    /// Returns an error, as part of a sentence, if the recording lacks what the program needs.
    pub(crate) fn check(&self, recording: &Recording) -> Result<(), &'static str> {
        match self.empty_cache_at_step_ends && recording.step_ends.is_empty() {
            true => Err("no steps were found in this recording: empty_cache() at step ends cannot be simulated"),
            false => Ok(()),
        }
    }

    /// Returns the program with the events of the calls of `empty_cache()`.
    pub(crate) fn with_step_ends(&self, step_ends: &[u32]) -> Program {
        let mut program = self.clone();
        if self.empty_cache_at_step_ends {
            program.empty_cache_before = step_ends.to_vec();
        }
        program
    }

    /// Returns true if frees do not wait for other streams.
    pub(crate) fn frees_at_once(&self) -> bool {
        self.one_stream || self.no_record_stream
    }
}

/// Lists the changes, such as `one stream, 2.00 GiB allocated first`.
impl fmt::Display for Program {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first =
            if self.preallocate > 0 { Bytes(self.preallocate).to_string() + " allocated first" } else { String::new() };
        let empties = self.empty_cache_at_step_ends || !self.empty_cache_before.is_empty();
        let changes = [
            (self.one_stream, "one stream"),
            (self.no_record_stream, "no record_stream()"),
            (self.preallocate > 0, &first),
            (empties, "empty_cache() at step ends"),
        ];
        let mut separator = "";
        for (_, words) in changes.into_iter().filter(|(is_changed, _)| *is_changed) {
            out.write_str(separator)?;
            out.write_str(words)?;
            separator = ", ";
        }
        Ok(())
    }
}
