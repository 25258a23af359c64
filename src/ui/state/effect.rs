//! Effects: work that the shell has to do after an update, and the data that it needs for that.

use crate::state::picture_file::Picture;
use crate::state::saved_page::SavedPage;
use picture::timeline::Scene;
use protocol::sql::{SqlFile, SqlRequest};
use protocol::{CategorySet, ExportJob, LeaveOut, LoadRange, Request};
use std::rc::Rc;

/// Work for the shell after [`update`](crate::shell::update::update). Redrawing needs no effect, since the shell
/// redraws whatever has changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    PickFile,
    /// Read a snapshot.
    Load {
        origin: Origin,
        /// Index of the snapshot, if the file holds several. `None` for the first.
        member: Option<u32>,
        /// Id of the load. Every reply contains it.
        load: u32,
        range: LoadRange,
    },
    /// Open a file picker for the second file of a comparison.
    PickSecond,
    /// Read the second file of a comparison.
    LoadSecond {
        origin: Origin,
        member: Option<u32>,
        load: u32,
    },
    /// Discard the second file of the comparison.
    CloseSecond,
    Ranks(RanksEffect),
    Sql(SqlEffect),
    Ask(Request),
    Upload {
        /// Index in the summary of the device that the scene shows.
        device_place: usize,
        scene: Rc<Scene>,
    },
    /// Focus the search field.
    FocusFind,
    /// Read the text of a given file, when no given file is a snapshot. Holds the file's index in the latest list and
    /// its name.
    ReadText(usize, String),
    /// Focus the filter field of the Allocations or Events tab.
    FocusFilter,
    /// Focus the field of the Segments tab for the size of a simulated request.
    FocusRequest,
    /// Focus the text field for the cursor's position.
    FocusGoTo,
    /// Focus the visible view.
    FocusView,
    /// Move the focus from the timeline to the visible view, or back.
    ChangeFocus,
    Copy(String),
    /// Start a copy whose text follows in [`Effect::CopyPromised`]. Some browsers only allow copying that starts during
    /// a key press or click.
    PromiseCopy,
    CopyPromised(String),
    /// Copy the page's address with this fragment.
    CopyLink(String),
    /// Save a picture as a file, and report the result.
    Export(Box<Picture>),
    /// Save the snapshot in another format, and report the result.
    WriteFile(Box<FileToWrite>),
    /// Open a file picker for the torch.profiler trace that memory events are added to.
    PickTrace,
    /// Save the page with embedded snapshots, and report the result.
    SaveHtml(Box<PageToSave>),
    /// Focus the text field for the device capacity.
    FocusCapacity,
    /// Store the settings in the browser's storage.
    Store(String),
    StoreRules(String),
    /// Parse category rules written in YAML. The result is reported as
    /// [`RulesAction::YamlRead`](crate::state::rules::RulesAction::YamlRead).
    ReadYaml(String),
    /// Save text as a file. Holds the file name and the text.
    Save(&'static str, String),
    /// Open the source link of the active row in the call tree.
    FollowSource,
    /// Restore the worker and the files of the previously open snapshot, because the new one failed to open.
    RestoreOpen,
    /// Cancel the pending request to the simulated allocator, because its result is no longer needed.
    CancelSimulation,
    /// Stop the simulated allocator, because another device or file is shown.
    EndSimulation,
    /// Discard the stopped worker. The next load starts a new one.
    ReplaceWorker,
}

/// Origin of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file. Holds its index in the shell's list of files (see [`crate::shell::action::Action::FilesGiven`]).
    File(usize),
    /// A URL, absolute or relative to the page.
    Link(String),
}

/// A file that the shell has access to.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenFile {
    /// File name. For a file in a folder, the last component of its path.
    pub name: String,
    /// Length in bytes.
    pub bytes: u64,
}

/// A position on the canvas, in device pixels from its left and bottom edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pointer {
    pub x: f64,
    pub y: f64,
}

/// Action of the mouse wheel. It depends on the modifier keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WheelAction {
    ZoomEvents,
    /// Zooms the byte axis (Ctrl + wheel).
    ZoomBytes,
    /// Pans along the events (Shift + wheel, or horizontal scrolling on a trackpad).
    MoveEvents,
}

/// A snapshot to embed in a saved page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotToSave {
    pub origin: Origin,
    pub load: u32,
    /// Name of the snapshot in the saved page.
    pub name: String,
}

/// A file to include in the rank survey, which scans the snapshots of many ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileToSurvey {
    pub origin: Origin,
    /// Index of the snapshot, if the file holds several.
    pub member: Option<u32>,
    pub name: String,
}

/// Work for the shell during the rank survey, which scans the snapshots of many ranks.
#[derive(Clone, Debug, PartialEq)]
pub enum RanksEffect {
    /// Fetch the list of all files of `memscape serve`. It is reported as
    /// [`RanksAction::Listed`](crate::state::ranks::RanksAction::Listed).
    List,
    /// Scan these files, and discard the results of previous scans.
    Survey(Vec<FileToSurvey>),
    /// Add a sentence to the insight that some files are not scanned.
    NoteOmitted(String),
    /// Request the insight. Holds the serial of the request, the number of rows per table, and the index of the map's
    /// sort order.
    Ask(u32, u32, u32),
    /// Set the pattern that extracts the rank and the step from a file name. Empty text restores the default.
    SetNamePattern(String),
    Cancel,
    Resume,
    End,
}

/// Work for the shell of the SQL tab.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlEffect {
    /// Open the snapshots of these loads in a new worker, with this request. Replies are reported as
    /// [`SqlAction::Replied`](crate::features::sql::SqlAction::Replied). A running worker is stopped.
    Open(Vec<u32>, SqlRequest),
    /// Send a request to the worker.
    Ask(SqlRequest),
    /// Set the text of the editor, focus it, and move its cursor to this byte offset.
    SetText(String, usize),
    /// Store the history of queries in the browser's storage.
    StoreHistory(String),
}

/// Position of a dragged file: over the page or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DropHover {
    #[default]
    Away,
    Over,
}

/// A device to save in another file format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileToWrite {
    pub snapshot: SnapshotToSave,
    /// Ordinal of the device in the snapshot.
    pub device: i64,
    pub job: ExportJob,
    /// Category rules that classify the allocations.
    pub categories: Box<CategorySet>,
    /// Name of the file to write.
    pub file: String,
    /// True if the written file is compressed with gzip.
    pub is_gzipped: bool,
    /// True if memory events are added to the torch.profiler trace that the user picked.
    pub extends_trace: bool,
    pub leave_out: LeaveOut,
    pub next: AfterWrite,
}

/// Next step of the shell once the file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterWrite {
    /// Save the file as a browser download.
    Save,
    /// Add the file to the list of snapshots and open it.
    Open,
    /// Compare the file with the open snapshot.
    Compare,
    /// Convert the columns in the file to a file for another tool, and save that.
    Convert(SqlFile),
}

/// A page to save, with embedded snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageToSave {
    /// The open snapshot and, in a comparison of two files, the second one.
    pub snapshots: Vec<SnapshotToSave>,
    pub opens_with: SavedPage,
    pub file: String,
    /// True if the saved page has to contain the SQL engine, which single-file pages are otherwise built without.
    pub has_sql: bool,
    pub leave_out: LeaveOut,
}

impl PageToSave {
    /// Returns the job that writes one of the snapshots as columns, without the texts to leave out.
    pub fn columns_of(&self, snapshot: &SnapshotToSave) -> FileToWrite {
        FileToWrite {
            snapshot: snapshot.clone(),
            device: 0,
            job: ExportJob::Columns,
            categories: Box::default(),
            file: String::new(),
            is_gzipped: false,
            extends_trace: false,
            leave_out: self.leave_out,
            next: AfterWrite::Save,
        }
    }
}
