//! Stages of opening a file (empty, choosing events, loading, ready, failed), the list of snapshots, and states of page
//! elements.

use crate::state::effect::Origin;
use crate::state::load_dialog::LoadDialog;
use crate::state::partial::PartialState;
use crate::text::url;
use protocol::{FileSummary, LoadRange, Phase};

/// Separator between the name of an archive and the path inside the archive.
pub(crate) const ARCHIVE_SEPARATOR: &str = " › ";

/// An entry of the list of snapshots.
#[derive(Clone, Debug, PartialEq)]
pub struct SnapshotChoice {
    pub origin: Origin,
    /// Index of the snapshot within a file that holds several. `None` if the file holds one, or until its contents are
    /// known.
    pub member: Option<u32>,
    pub file: String,
    /// Path inside the file, if the file holds several snapshots.
    pub path: Option<String>,
    /// Size of the file in bytes, if known.
    pub bytes: Option<u64>,
    /// Range of events to load. `None` if the user has not chosen one.
    pub load: Option<LoadRange>,
}

impl SnapshotChoice {
    /// Creates an entry for the file at an address.
    pub(crate) fn linked(address: String) -> SnapshotChoice {
        let file = url::file_name(&address);
        SnapshotChoice { origin: Origin::Link(address), member: None, file, path: None, bytes: None, load: None }
    }

    /// Returns the name of the file. If the file holds several snapshots, the snapshot's path inside the file is
    /// appended.
    pub fn name(&self) -> String {
        match &self.path {
            None => self.file.clone(),
            Some(path) => format!("{}{ARCHIVE_SEPARATOR}{path}", self.file),
        }
    }
}

/// Stage of opening a file. The page sets it as `body[data-state]`.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Stage {
    #[default]
    Empty,
    /// The user has to choose which events of a file to load.
    Choosing(Box<LoadDialog>),
    Loading(Loading),
    Ready(Box<FileSummary>),
    /// The last file could not be opened. Holds the error message.
    Failed(String),
}

/// A file that is being loaded.
#[derive(Clone, Debug, PartialEq)]
pub struct Loading {
    pub name: String,
    /// File or URL that is being read.
    pub origin: Origin,
    /// Number of bytes read so far.
    pub bytes: u64,
    /// Total number of bytes, if known.
    pub total_bytes: Option<u64>,
    pub phase: Phase,
    /// Start of the load in ms, on the shell's monotonic clock.
    pub started_ms: f64,
    /// Time of the last progress report in ms, on the shell's monotonic clock.
    pub latest_ms: f64,
    /// The part of the file that is decoded so far. `None` until it can be drawn.
    pub partial: Option<Box<PartialState>>,
}

/// State of single-letter keyboard shortcuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Letters {
    #[default]
    On,
    /// Single letters do nothing, so that speech input cannot trigger commands.
    Off,
}

/// State of the help dialog, which lists keyboard shortcuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Help {
    #[default]
    Closed,
    Open,
}

/// Renderer that draws the timeline.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Renderer {
    /// The browser has not yet been queried for WebGPU.
    #[default]
    Unknown,
    WebGpu,
    /// The CPU renderer. Holds the reason why WebGPU is not used, if the user may want to know it.
    Cpu(Option<String>),
}

/// Returns the length in bytes of the longest path prefix (archive and folders) that all names share.
pub(crate) fn shared_folders(names: &[String]) -> usize {
    let Some((first, others)) = names.split_first() else { return 0 };
    let end = |(at, separator): (usize, &str)| at + separator.len();
    let ends = first.match_indices('/').chain(first.match_indices(ARCHIVE_SEPARATOR)).map(end);
    let is_shared =
        |end: &usize| first.get(..*end).is_some_and(|head| others.iter().all(|name| name.starts_with(head)));
    ends.filter(is_shared).max().unwrap_or(0)
}
