//! Requests to the shell after an update, and the values exchanged with it.

use super::picture_file::Picture;
use engine::protocol::{Ask, CategorySet, ExportJob, LoadRange, Question, Request};
use picture::timeline::Scene;
use std::rc::Rc;

/// Work for the shell after [`super::update()`]. There is no effect for redrawing: the shell redraws whatever changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    PickFile,
    /// Read a snapshot.
    Load {
        origin: Origin,
        /// Index of the snapshot in a file that holds several. The first if `None`.
        member: Option<u32>,
        /// Load number, repeated in every reply.
        load: u32,
        /// Events to load.
        range: LoadRange,
    },
    /// Let the user choose a file to compare with.
    PickSecond,
    /// Read the second file of a comparison.
    LoadSecond {
        origin: Origin,
        member: Option<u32>,
        load: u32,
    },
    /// Discard the second file.
    CloseSecond,
    Ranks(RanksEffect),
    Ask(Request),
    Upload {
        /// Index of the scene's device in the summary.
        device_place: usize,
        scene: Rc<Scene>,
    },
    /// Focus the search field.
    FocusFind,
    /// Read the text of a file, given by its index in the last list of files and its name. Used if none of the files
    /// was a snapshot.
    ReadText(usize, String),
    /// Focus the row filter of Allocations, or of the list of events.
    FocusFilter,
    /// Focus the request field of Segments.
    FocusRequest,
    /// Focus the field that moves the cursor.
    FocusGoTo,
    /// Focus the visible view.
    FocusView,
    /// Move the focus from the timeline to the view, or back.
    ChangeFocus,
    Copy(String),
    /// Start copying during the key press or click, with the text to follow. Some browsers do not allow copying later.
    PromiseCopy,
    CopyPromised(String),
    /// Copy the page's own address with this fragment.
    CopyLink(String),
    /// Save a picture as a file and report it.
    Export(Box<Picture>),
    /// Save the snapshot in another format and report it.
    WriteFile(Box<FileToWrite>),
    /// Let the user choose a torch.profiler trace to add memory to.
    PickTrace,
    /// Save the page with snapshots inside and report it.
    SaveHtml(Box<PageToSave>),
    /// Focus the field of the GPU capacity.
    FocusCapacity,
    /// Store the settings in the browser.
    Store(String),
    StoreRules(String),
    /// Parse rules written in YAML. The result comes as [`RulesAction::YamlRead`](crate::rules::RulesAction::YamlRead).
    ReadYaml(String),
    /// Save text as a file of this name.
    Save(&'static str, String),
    /// Open the source link of the tree's active row.
    FollowSource,
    /// Restore the worker and the files of the open snapshot, because the new snapshot failed to open.
    RestoreOpen,
    /// Cancel the simulator's pending question, since its answer is no longer needed.
    CancelSimulation,
    /// Stop the simulator, since another device or file is shown.
    EndSimulation,
    /// Discard the stopped worker. The next load starts a new one.
    ReplaceWorker,
}

impl Effect {
    /// Creates an effect that sends a question about a device to the worker. The answer has the same `serial`.
    pub(super) fn ask(serial: u32, device: i64, question: Question) -> Effect {
        Effect::Ask(Request::Ask(Ask { serial, device, question }))
    }
}

/// Source of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file, by its index in the last [`crate::Action::FilesGiven`].
    File(usize),
    /// A URL, absolute or relative to the page.
    Link(String),
}

/// A file that the shell holds.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenFile {
    /// File name, or the last part of its path in a folder.
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

/// Action of the mouse wheel.
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

/// A file to include in the survey of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileToSurvey {
    pub origin: Origin,
    /// Index of the snapshot in a file that holds several.
    pub member: Option<u32>,
    pub name: String,
}

/// Work for the shell to do for the survey of many ranks.
#[derive(Clone, Debug, PartialEq)]
pub enum RanksEffect {
    /// Fetch the addresses of all files of `memscape serve`. They come as
    /// [`RanksAction::Listed`](crate::ranks::RanksAction::Listed).
    List,
    /// Survey these files, and drop the results of earlier ones.
    Survey(Vec<FileToSurvey>),
    /// Add a sentence to the insight that some files are not surveyed.
    NoteOmitted(String),
    /// Ask for the insight. Holds the serial of the question, the number of rows per table, and the index of the sort
    /// order of its map.
    Ask(u32, u32, u32),
    /// Set the pattern that extracts rank and step from file names. Empty restores the default.
    SetNamePattern(String),
    Cancel,
    Resume,
    End,
}

/// Position of a dragged file relative to the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DropHover {
    #[default]
    Away,
    Over,
}

/// A device to save as a file in another format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileToWrite {
    pub snapshot: SnapshotToSave,
    /// Ordinal of the device in the snapshot.
    pub device: i64,
    pub job: ExportJob,
    /// Category rules to classify the allocations by.
    pub categories: Box<CategorySet>,
    /// Name of the file to write.
    pub file: String,
    /// True if the file is compressed with gzip.
    pub is_gzipped: bool,
    /// True if memory is added to the torch.profiler trace that was chosen.
    pub extends_trace: bool,
    pub next: AfterWrite,
}

/// Next step for a file once it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterWrite {
    /// Saved by the browser.
    Save,
    /// Opened, as an additional snapshot to choose from.
    Open,
    /// Compared with the open snapshot.
    Compare,
}

/// A page to save with snapshots inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageToSave {
    /// The open snapshot, and the one that it is compared with.
    pub snapshots: Vec<SnapshotToSave>,
    /// Initial view of the page, as the fragment of a link.
    pub view: String,
    pub file: String,
    /// True if the page includes the SQL engine, even if the single-file page was built without it.
    pub has_sql: bool,
}
