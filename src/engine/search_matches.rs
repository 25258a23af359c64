//! Matches of the latest finished search. They are highlighted, and the user can step through them.

use analysis::IdSet;

/// Allocations and frames that match a search.
pub(super) struct SearchMatches {
    pub(super) serial: u32,
    pub(super) device: i64,
    pub(super) matches: IdSet,
    /// Frames that match the query. Empty if the query does not refer to frames.
    pub(super) frames: IdSet,
}

base::heap_bytes!(SearchMatches: matches, frames);
