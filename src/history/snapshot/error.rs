//! Errors about the contents of a snapshot.

use super::schema::Key;
use super::value::Kind;
use base::units::{Bytes, group_digits};
use std::fmt;

/// Error that stops decoding in the middle of a file, usually because a limit is exceeded. The parser adds the offset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// A table is full. Holds the plural noun of its rows.
    #[error("more than 2^32 distinct {0}")]
    TooMany(&'static str),
    /// All distinct strings together are too long.
    #[error(
        "distinct strings of more than {}: not a snapshot",
        Bytes(super::strings::MAX_STRING_BYTES as u64)
    )]
    Strings,
    /// An open container has too many values.
    #[error("more than {} values in one list or dict: not a snapshot", group_digits(super::limits::MAX_ITEMS as u64))]
    Items,
    /// An integer does not fit into `i128`. Holds its length in bytes.
    #[error("an integer of {0} bytes")]
    IntegerTooLarge(usize),
    /// An event dict occurs in two lists, or twice in one.
    #[error("an event is used in two places")]
    EventUsedTwice,
}

/// Error about a value that violates the format, with its path: `device_traces[0][17].size: expected …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentError {
    /// Path of keys and indices from the top level, such as `device_traces[0][17].size`. Empty for the whole file.
    pub path: String,
    pub problem: Problem,
}

/// Reason why a value violates the format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The value has a wrong type. Holds the expected type, and the kind of the value.
    Type(&'static str, Kind),
    Missing,
    /// The value is outside the valid range. Holds a description of the range.
    Range(&'static str),
    /// The file as a whole is not a snapshot. Holds the keys of its top level, if it is a dict.
    NotASnapshot(String),
    /// The file is one of torch.profiler without events. Holds what it is and what to record.
    Profile(&'static str),
    /// The requested snapshot does not exist. Holds its index.
    NoSuchMember(u32),
}

impl ContentError {
    /// Prefixes the path with `parent`.
    pub fn within(mut self, parent: &str) -> ContentError {
        let joint = if self.path.is_empty() || self.path.starts_with('[') || parent.is_empty() { "" } else { "." };
        self.path = format!("{parent}{joint}{}", self.path);
        self
    }

    /// Creates an error about the value of `key`.
    pub fn at_key(key: Key, problem: Problem) -> ContentError {
        ContentError { path: key.text().to_owned(), problem }
    }
}

impl fmt::Display for ContentError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(out, "{}: ", self.path)?;
        }
        match &self.problem {
            Problem::Type(expected, found) => write!(out, "expected {expected}, found {}", found.noun()),
            Problem::Missing => write!(out, "is missing"),
            Problem::Range(range) => write!(out, "is not {range}"),
            Problem::NotASnapshot(keys) => {
                write!(
                    out,
                    "this is not a PyTorch memory snapshot: no 'segments' or 'device_traces' at the top level"
                )?;
                if keys.is_empty() { Ok(()) } else { write!(out, ", only {keys}") }
            }
            Problem::Profile(what) => write!(
                out,
                "this is {what}, not a PyTorch memory snapshot: record one with \
                 torch.cuda.memory._record_memory_history() and _dump_snapshot()"
            ),
            Problem::NoSuchMember(index) => write!(out, "the file has no snapshot {index}. Has it changed?"),
        }
    }
}

impl std::error::Error for ContentError {}
