//! State of the previously open file, for restoring it.

use crate::state::link::Link;
use crate::state::stage::SnapshotChoice;
use protocol::FileSummary;

/// State of the page with the previously open file.
#[derive(Clone, Debug)]
pub(crate) struct Previous {
    pub(crate) load: u32,
    pub(crate) snapshots: Vec<SnapshotChoice>,
    pub(crate) chosen: usize,
    /// Link that restores the view of the file.
    pub(crate) link: Link,
    /// Summary of the file, moved here when the file is closed.
    pub(crate) file: Option<Box<FileSummary>>,
}
