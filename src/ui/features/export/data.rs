//! What the page knows of exports, and what happens to them.

use super::crop_range::CropRange;
use crate::figure::{Figure, words::Words};
use crate::picture_file::Format;
use engine::protocol::{ExportFormat, ExportTable, Looks};
use picture::timeline::{OutlineRect, View};
use std::collections::BTreeSet;

/// Whether the dialog that offers formats is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Dialog {
    /// No.
    #[default]
    Closed,
    Open,
}

/// What the page knows of exports.
#[derive(Clone, Debug, Default)]
pub struct Export {
    pub dialog: Dialog,
    pub(super) wanted: Option<Format>,
    pub(super) making: Option<Box<Making>>,
    /// Which table CSV and JSON lines have.
    pub table: ExportTable,
    /// Which range becomes a smaller snapshot.
    pub crop: CropRange,
    /// What the profiler's trace is called that Perfetto's file is put into.
    pub trace: Option<String>,
    /// Whether the worker writes a file.
    pub(super) is_writing: bool,
}

/// A picture whose scene is on its way: everything but that, as it was when it was asked for.
#[derive(Clone, Debug)]
pub(super) struct Making {
    /// Of the requests for scene and outline.
    pub(super) serials: [u32; 2],
    pub(super) format: Format,
    pub(super) view: View,
    pub(super) looks: Looks,
    pub(super) faded: BTreeSet<u32>,
    pub(super) figure: Figure,
    pub(super) words: Words,
    pub(super) outline: Vec<OutlineRect>,
}

impl Export {
    /// Whether the worker is making a scene for a file.
    pub(crate) fn is_drawing(&self) -> bool {
        self.making.is_some()
    }
}

/// What happened to a picture on its way to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportAction {
    /// The dialog of formats was closed by the browser.
    Closed,
    /// The shell has made the file of this name, or could not.
    Saved(Result<String, String>),
    /// The same of one that the worker has written.
    Written(Result<String, String>),
    /// Of the list of tables this one was chosen.
    TableChosen(usize),
    CropChosen(usize),
    /// A trace of torch.profiler was given.
    TraceGiven(String),
}

/// What keys and controls do with the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExportStep {
    /// Offer the formats of a picture, or stop it.
    Toggle,
    Save(Format),
    Write(ExportFormat),
    /// Write the chosen range as a snapshot.
    Crop,
    /// Choose a profiler's trace, or leave the one that was chosen out.
    Trace,
}
