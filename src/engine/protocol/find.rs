//! Questions and answers of the search.

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

/// Direction from one match to another, in allocation order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Direction {
    Next,
    Previous,
}

/// Starting point of the search for the next match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SearchStart {
    /// Starts at this allocation. Finds a different match if there is one.
    Allocation(u32),
    /// Starts at this moment. [`Direction::Next`] finds a match that is allocated at or after the moment, and
    /// [`Direction::Previous`] one that is allocated before.
    Moment(u32),
}

/// A match of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    pub allocation: u32,
    /// Index among all matches in allocation order.
    pub index: u32,
    pub requested: u64,
    /// Lowest byte that the match covers in the stack, at its first moment in the requested window, or at its
    /// allocation if it is not live there. In the address plot, its position on the axis. In the reserved plot, its
    /// position in the enclosing range.
    pub lowest_byte: u64,
}
