//! State of the initial grouping of a file.

use crate::latest::Latest;

/// Request for the initial grouping, and the question to the worker.
#[derive(Clone, Debug, Default)]
pub struct FirstGroup {
    pub(super) is_wanted: bool,
    pub(super) answer: Latest<(), ()>,
}
