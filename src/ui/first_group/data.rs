//! State of the initial grouping of a file.

use crate::latest::Latest;

/// State of the initial grouping: whether it is wanted, and the question to the worker.
#[derive(Clone, Debug, Default)]
pub struct FirstGroup {
    pub(super) is_wanted: bool,
    pub(super) answer: Latest<(), ()>,
}
