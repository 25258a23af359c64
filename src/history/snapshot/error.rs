//! What is wrong with a value, and where.

use super::schema::Key;
use super::value::Kind;
use base::units::{Bytes, grouped};
use std::fmt;

/// Why the reader refuses to go on in the middle of a file: limits, not content. The machine adds the offset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// One of the tables is full.
    #[error("more than 2^32 distinct {0}")]
    TooMany(&'static str),
    /// All strings together, each counted once.
    #[error(
        "distinct strings of more than {}: not a snapshot",
        Bytes(super::strings::MOST_STRING_BYTES as u64)
    )]
    Strings,
    /// A container that is held while it is open.
    #[error("more than {} values in one list or dict: not a snapshot", grouped(super::limits::MOST_ITEMS as u64))]
    Items,
    /// An integer of more than 127 bits.
    #[error("an integer of {0} bytes")]
    IntegerTooLarge(usize),
    /// An event dict is used in two lists, or twice in one.
    #[error("an event is used in two places")]
    EventUsedTwice,
}

/// A value that is not what the format says, with its path: `device_traces[0][17].size: expected …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentError {
    /// Keys and indices from the top: `device_traces[0][17].size`; empty for the whole file.
    pub path: String,
    pub problem: Problem,
}

/// What is wrong with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It is of another type: expected, found.
    Type(&'static str, Kind),
    Missing,
    /// A number outside its range: what the range is.
    Range(&'static str),
    /// The whole is no snapshot.
    NotASnapshot,
}

impl ContentError {
    /// The problem one level further up.
    pub fn within(mut self, parent: &str) -> ContentError {
        let joint = if self.path.is_empty() || self.path.starts_with('[') || parent.is_empty() { "" } else { "." };
        self.path = format!("{parent}{joint}{}", self.path);
        self
    }

    /// A problem with the value under `key`.
    pub fn at_key(key: Key, problem: Problem) -> ContentError {
        ContentError { path: key.text().to_owned(), problem }
    }
}

impl fmt::Display for ContentError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(out, "{}: ", self.path)?;
        }
        match self.problem {
            Problem::Type(expected, found) => write!(out, "expected {expected}, found {}", found.noun()),
            Problem::Missing => write!(out, "is missing"),
            Problem::Range(range) => write!(out, "is not {range}"),
            Problem::NotASnapshot => {
                write!(out, "this is not a PyTorch memory snapshot: no 'segments' or 'device_traces' at the top level")
            }
        }
    }
}

impl std::error::Error for ContentError {}
