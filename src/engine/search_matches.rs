//! Matches of the latest finished search of a file. They can be stepped through and are highlighted.

use analysis::IdSet;

/// Matches of a search.
pub(super) struct SearchMatches {
    pub(super) serial: u32,
    pub(super) device: i64,
    pub(super) matches: IdSet,
    /// Frames that match. Empty if the query is not about frames.
    pub(super) frames: IdSet,
}
