//! What was open, as it is kept.

use crate::link::Link;
use crate::stage::Choice;
use engine::protocol::FileSummary;

/// What was open.
#[derive(Clone, Debug)]
pub(crate) struct Previous {
    pub(crate) load: u32,
    pub(crate) snapshots: Vec<Choice>,
    pub(crate) chosen: usize,
    /// How it was seen.
    pub(crate) link: Link,
    /// Moved here when it is left.
    pub(crate) file: Option<Box<FileSummary>>,
}
