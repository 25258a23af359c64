//! State and actions of exports.

use super::crop_range::CropRange;
use crate::figure::{Figure, words::SheetText};
use crate::picture_file::Format;
use engine::protocol::{ExportFormat, ExportTable, Looks};
use picture::timeline::{OutlineRect, View};
use std::collections::BTreeSet;

/// State of the export dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Dialog {
    #[default]
    Closed,
    Open,
}

/// State of exports.
#[derive(Clone, Debug, Default)]
pub struct Export {
    pub dialog: Dialog,
    pub(super) requested_format: Option<Format>,
    pub(super) pending_picture: Option<Box<PendingPicture>>,
    /// Table for the formats CSV and JSON Lines.
    pub table: ExportTable,
    /// Range to export as a smaller snapshot.
    pub crop: CropRange,
    /// Name of the torch.profiler trace that the Perfetto export is added to.
    pub trace: Option<String>,
    /// True while the worker writes a file.
    pub(super) is_writing: bool,
}

/// A picture whose scene is pending. The other fields are as they were when the scene was requested.
#[derive(Clone, Debug)]
pub(super) struct PendingPicture {
    /// Serials of the requests for scene and outline.
    pub(super) serials: [u32; 2],
    pub(super) format: Format,
    pub(super) view: View,
    pub(super) looks: Looks,
    pub(super) faded: BTreeSet<u32>,
    pub(super) figure: Figure,
    pub(super) words: SheetText,
    pub(super) outline: Vec<OutlineRect>,
}

impl Export {
    /// Returns true while the worker computes the scene of a picture to export.
    pub(crate) fn is_drawing(&self) -> bool {
        self.pending_picture.is_some()
    }
}

/// User input and results of exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportAction {
    /// The browser closed the dialog.
    Closed,
    /// The picture was saved under this name, or saving failed.
    PictureSaved(Result<String, String>),
    /// The worker has written a file of this name, or failed.
    FileWritten(Result<String, String>),
    /// A table was chosen. Holds its index in [`ExportTable::ALL`].
    TableChosen(usize),
    CropChosen(usize),
    /// A torch.profiler trace with this name was chosen.
    TraceChosen(String),
}

/// Commands of the export dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExportStep {
    /// Opens or closes the dialog.
    Toggle,
    Save(Format),
    Write(ExportFormat),
    /// Saves the chosen range as a snapshot.
    Crop,
    /// Chooses a torch.profiler trace, or removes the chosen one.
    Trace,
}
