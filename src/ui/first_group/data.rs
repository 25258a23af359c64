//! Whether the grouping of a file is still to be found.

use crate::latest::Latest;

/// Whether it is, and what the worker says of it.
#[derive(Clone, Debug, Default)]
pub struct FirstGroup {
    pub(super) is_wanted: bool,
    pub(super) answer: Latest<(), ()>,
}
