//! Matches of the latest finished search in a file. They are highlighted, and the user can step through them.

use analysis::IdSet;

/// Matching allocations and frames of a search.
pub(super) struct SearchMatches {
    pub(super) serial: u32,
    pub(super) device: i64,
    pub(super) matches: IdSet,
    /// Frames that match the query. Empty if the query is not about frames.
    pub(super) frames: IdSet,
}
