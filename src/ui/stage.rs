//! How far the page is: which snapshots there are to choose from, whether one is loading, open or failed; and what of the page
//! itself is on or off.

use super::choosing::data::Choosing;
use super::effect::Origin;
use super::partial::Unfinished;
use engine::protocol::{FileSummary, LoadRange, Phase};

/// Between an archive and what is in it.
pub(super) const INSIDE: &str = " › ";

/// A snapshot there is to choose.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    pub origin: Origin,
    /// Its place among several in that file, once that is known.
    pub member: Option<u32>,
    pub file: String,
    /// Its path in the file, where there are several.
    pub path: Option<String>,
    /// Its length in bytes, where known.
    pub bytes: Option<u64>,
    /// Which of its events are loaded, where that was chosen.
    pub load: Option<LoadRange>,
}

impl Choice {
    /// Its name: the file's, and the path in it where there are several.
    pub fn name(&self) -> String {
        match &self.path {
            None => self.file.clone(),
            Some(path) => format!("{}{INSIDE}{path}", self.file),
        }
    }
}

/// The stage of the page; `body[data-state]`.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Stage {
    /// Nothing was opened.
    #[default]
    Empty,
    /// Which events of a file are loaded is asked.
    Choosing(Box<Choosing>),
    Loading(Loading),
    Ready(Box<FileSummary>),
    /// The last file could not be opened: one sentence.
    Failed(String),
}

/// A file on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct Loading {
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Bytes read.
    pub bytes: u64,
    /// Bytes in all, where known.
    pub total_bytes: Option<u64>,
    pub phase: Phase,
    /// When it began, on the shell's clock.
    pub started_ms: f64,
    /// When the last progress came.
    pub latest_ms: f64,
    /// What is decoded so far, once that is shown.
    pub unfinished: Option<Box<Unfinished>>,
}

/// Whether single-letter keys work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Letters {
    /// They do.
    #[default]
    On,
    /// They do not: for those who dictate to their computer.
    Off,
}

/// Whether the list of keys is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Help {
    /// No.
    #[default]
    Closed,
    Open,
}

/// How pictures are drawn.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Renderer {
    /// The browser was not asked yet.
    #[default]
    Unknown,
    WebGpu,
    /// The CPU twin, and why, where a person may want to know.
    Cpu(Option<String>),
}
