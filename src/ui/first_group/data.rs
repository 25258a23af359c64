//! State of the initial grouping of a file.

use crate::latest::Latest;

/// State of the initial grouping: a flag that it is wanted, and the request to the worker.
#[derive(Clone, Debug, Default)]
pub struct FirstGroup {
    pub(super) is_wanted: bool,
    pub(super) answer: Latest<(), ()>,
}
