//! The previously open file, which may have to be restored.

use crate::link::Link;
use crate::stage::SnapshotChoice;
use engine::protocol::FileSummary;

/// State of the page before another file was opened.
#[derive(Clone, Debug)]
pub(crate) struct Previous {
    pub(crate) load: u32,
    pub(crate) snapshots: Vec<SnapshotChoice>,
    pub(crate) chosen: usize,
    /// Link that restores the view of the file.
    pub(crate) link: Link,
    /// The file's summary, moved here when the file is left.
    pub(crate) file: Option<Box<FileSummary>>,
}
