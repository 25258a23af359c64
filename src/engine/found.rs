//! What the latest finished search of a file found: it can be stepped through, and stands out.

use analysis::IdSet;

/// The matches of a search.
pub(super) struct Found {
    pub(super) serial: u32,
    pub(super) device: i64,
    pub(super) matches: IdSet,
    /// The frames that match; none where the query is not about frames.
    pub(super) frames: IdSet,
}
