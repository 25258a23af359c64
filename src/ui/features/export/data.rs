//! State and actions of exports.

use crate::features::export::crop_range::CropRange;
use crate::plot::figure::Figure;
use crate::plot::figure::words::SheetText;
use crate::state::picture_file::Format;
use picture::timeline::{OutlineRect, View};
use protocol::{ExportTable, LeaveOut, PlotSettings};
use std::collections::BTreeSet;

/// Visibility of the export dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Dialog {
    #[default]
    Closed,
    Open,
}

/// State of the export feature: dialog, options and pending work.
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
    /// Private texts to leave out of saved pages, exports and smaller snapshots.
    pub leave_out: LeaveOut,
    /// The texts that are left out of the file that the worker is writing. `None` if it writes none.
    pub(super) writing: Option<LeaveOut>,
}

/// Picture that waits for its scene. The fields hold the state from the time of the request.
#[derive(Clone, Debug)]
pub(super) struct PendingPicture {
    /// Serial numbers of two requests: for the scene, and for the outline of the selected allocation.
    pub(super) serials: [u32; 2],
    pub(super) format: Format,
    pub(super) view: View,
    pub(super) plot_settings: PlotSettings,
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

/// User input in the export dialog, and results of exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportAction {
    /// The browser closed the dialog.
    Closed,
    /// Result of saving a picture: its file name, or an error message.
    PictureSaved(Result<String, String>),
    /// Result of writing a file in the worker: the file name, or an error message.
    FileWritten(Result<String, String>),
    /// A table was selected. Holds its index in [`ExportTable::ALL`].
    TableChosen(usize),
    CropChosen(usize),
    /// A kind of private text, by its name, is left out or kept.
    LeaveOut(String, bool),
    /// A torch.profiler trace with this file name was selected.
    TraceChosen(String),
}
