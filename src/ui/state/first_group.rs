//! State of the initial grouping of a file.

use crate::state::latest::Latest;

/// State of the initial grouping: a flag that it is wanted, and the request to the worker.
#[derive(Clone, Debug, Default)]
pub struct FirstGroup {
    pub(crate) is_wanted: bool,
    pub(crate) answer: Latest<(), ()>,
}
