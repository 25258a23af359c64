//! What a search is asked and tells.

pub use analysis::query::{Query, QueryError, Wording};
use serde::{Deserialize, Serialize};

/// How many allocations a search found, and their requested bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// How many.
    pub count: u32,
    /// Their bytes together, though they need not have been live together; at most 2^64 − 1.
    pub requested: u64,
    /// How many of them are live at the device's peak.
    pub peak_count: u32,
    /// The bytes of those.
    pub peak_requested: u64,
}

/// Which way to go from one match to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Direction {
    /// To the one born after.
    Next,
    /// To the one born before.
    Previous,
}

/// Where to begin looking for a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Begin {
    /// At this allocation: the match is another, unless there is none.
    Allocation(u32),
    /// At this moment: the match is born at it or later, or before it.
    Moment(u32),
}

/// One match among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    pub allocation: u32,
    /// Its place among all matches in order of birth, from 0.
    pub place: u32,
    /// Its requested bytes.
    pub requested: u64,
    /// The lowest byte of the stack that it covers, at its first moment in the window that was requested, or at its birth where
    /// it is not live in it. Of addresses: where it lies on their axis. Of what was reserved: where it lies in the range that holds it.
    pub lowest_byte: u64,
}
