//! Queries and results of the search over allocations.

pub use analysis::query::{FrameMatcher, Query, QueryError};
use serde::{Deserialize, Serialize};

/// Number and requested bytes of the matches of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub count: u32,
    /// Sum of the requested bytes of all matches, even if they were never live at the same time. Saturates at 2^64 − 1.
    pub requested: u64,
    /// Number of matches that are live at the device's peak.
    pub peak_count: u32,
    /// Bytes of the matches that are live at the device's peak.
    pub peak_requested: u64,
}

/// Direction of a search for the next match, in order of allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Direction {
    Next,
    Previous,
}

/// Starting point of the search for the next match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SearchStart {
    /// Starts at this allocation. Finds a different allocation if there is another match.
    Allocation(u32),
    /// Starts at this moment. [`Direction::Next`] finds a match that is allocated at or after the moment.
    /// [`Direction::Previous`] finds a match that is allocated before.
    Moment(u32),
}

/// An allocation that matches a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    pub allocation: u32,
    /// Index of the match among all matches, in order of allocation.
    pub index: u32,
    pub requested: u64,
    /// Height of the match's lower edge in the stacked plot, in bytes. It is measured at the first moment in the
    /// requested window at which the match is live, or when it is allocated. In the address plot, the position on the
    /// axis. In the reserved plot, the height within its mapped range.
    pub lowest_byte: u64,
}
