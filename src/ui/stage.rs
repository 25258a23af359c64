//! Stages of opening a file (empty, choosing events, loading, ready, failed), the list of snapshots, and switches of
//! the page.

use super::effect::Origin;
use super::load_dialog::data::LoadDialog;
use super::partial::PartialState;
use engine::protocol::{FileSummary, LoadRange, Phase};

/// Separator between an archive and the path inside it.
pub(super) const ARCHIVE_SEPARATOR: &str = " › ";

/// A snapshot in the list of snapshots.
#[derive(Clone, Debug, PartialEq)]
pub struct SnapshotChoice {
    pub origin: Origin,
    /// Index of the snapshot in a file that holds several, once known.
    pub member: Option<u32>,
    pub file: String,
    /// Path inside the file, if it holds several snapshots.
    pub path: Option<String>,
    /// Size in bytes, if known.
    pub bytes: Option<u64>,
    /// Range of events to load, if the user has chosen one.
    pub load: Option<LoadRange>,
}

impl SnapshotChoice {
    /// Returns the name of the file. If the file holds several snapshots, the path inside it follows.
    pub fn name(&self) -> String {
        match &self.path {
            None => self.file.clone(),
            Some(path) => format!("{}{ARCHIVE_SEPARATOR}{path}", self.file),
        }
    }
}

/// Stage of opening a file. The page shows it as `body[data-state]`.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Stage {
    #[default]
    Empty,
    /// The user is asked which events of a file to load.
    Choosing(Box<LoadDialog>),
    Loading(Loading),
    Ready(Box<FileSummary>),
    /// The last file could not be opened. Holds the reason as a sentence.
    Failed(String),
}

/// A file that is being loaded.
#[derive(Clone, Debug, PartialEq)]
pub struct Loading {
    pub name: String,
    /// Location that the file is read from.
    pub origin: Origin,
    /// Bytes read so far.
    pub bytes: u64,
    /// Total number of bytes, if known.
    pub total_bytes: Option<u64>,
    pub phase: Phase,
    /// Start of the load in ms, on the shell's clock.
    pub started_ms: f64,
    /// Time of the last progress report in ms, on the shell's clock.
    pub latest_ms: f64,
    /// The part decoded so far, once it is shown.
    pub partial: Option<Box<PartialState>>,
}

/// State of single-letter keyboard shortcuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Letters {
    #[default]
    On,
    /// Off, for people who use speech input.
    Off,
}

/// State of the dialog that lists keyboard shortcuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Help {
    #[default]
    Closed,
    Open,
}

/// Renderer of the timeline.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Renderer {
    /// The browser's capabilities have not been queried yet.
    #[default]
    Unknown,
    WebGpu,
    /// The CPU renderer, with the reason if the user may want to know it.
    Cpu(Option<String>),
}
