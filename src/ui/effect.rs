//! What the shell does after an update, and the small values that travel between it and the features.

use super::picture_file::Picture;
use engine::protocol::{Ask, CategorySet, ExportJob, LoadRange, Question, Request};
use picture::timeline::Scene;
use std::rc::Rc;

/// What the shell does after [`super::update()`]. It redraws whatever changed without being told.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    PickFile,
    /// Read a snapshot, as load `load`.
    Load {
        /// From here.
        origin: Origin,
        /// Which snapshot, if there are several; the first when not said.
        member: Option<u32>,
        /// The load's number.
        load: u32,
        /// Which of its events.
        range: LoadRange,
    },
    /// Choose a file to compare with.
    PickSecond,
    /// Read the second file, as load `load`.
    LoadSecond {
        origin: Origin,
        member: Option<u32>,
        load: u32,
    },
    /// The second file is no longer needed.
    EndSecond,
    Ranks(RanksEffect),
    Ask(Request),
    Upload {
        /// Of this device: its place in the summary's list.
        device_place: usize,
        scene: Rc<Scene>,
    },
    /// The field of the search gets the focus.
    FocusFind,
    /// Read the text of the file of this place among those given last, which has this name; none of them is a snapshot.
    ReadText(usize, String),
    /// The field of the filter of the table, or of the list of events, gets the focus.
    FocusFilter,
    /// The field of the request gets the focus.
    FocusRequest,
    /// The field of the moment gets the focus.
    FocusMoment,
    /// The view that is seen gets the focus.
    FocusView,
    /// It gets the focus, or the timeline if the view has it.
    ChangeFocus,
    Copy(String),
    /// Promise the clipboard a text now, in the key press or click that asks for it: some browsers allow no copying later.
    PromiseCopy,
    CopyPromised(String),
    /// Copy the page's own address with this fragment.
    CopyLink(String),
    /// Make a file of a picture, and say so.
    Export(Box<Picture>),
    /// Make a file of the snapshot in another format, and say so.
    WriteFile(Box<FileToWrite>),
    /// Choose a trace of torch.profiler to put memory into.
    PickTrace,
    /// Make a file of the page with a snapshot in it, and say so.
    SaveHtml(Box<PageToSave>),
    /// The field of the GPU's capacity gets the focus.
    FocusCapacity,
    /// The browser keeps this text of settings.
    Store(String),
    StoreRules(String),
    /// Have a text in YAML read: [`RulesAction::YamlRead`](crate::rules::RulesAction::YamlRead) says what it is.
    ReadYaml(String),
    /// This text becomes a file of this name.
    Save(&'static str, String),
    /// The link of the tree's active row is followed.
    FollowSource,
    /// What was to take the place of the open file did not: its worker and its files are the ones to work with.
    BackToOpen,
    /// Nobody waits for the answer of the simulator any more.
    CancelSimulation,
    /// Another device or file is shown: the simulator's is no longer needed.
    EndSimulation,
    /// The worker is dead: the next load needs a new one.
    ReplaceWorker,
}

impl Effect {
    /// Asks the worker about a device; `serial` is the number of the answer.
    pub(super) fn ask(serial: u32, device: i64, what: Question) -> Effect {
        Effect::Ask(Request::Ask(Ask { serial, device, what }))
    }
}

/// Where a snapshot comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The file of this place in the last [`crate::Action::FilesGiven`].
    File(usize),
    /// This address, absolute or relative to the page.
    Link(String),
}

/// A file the shell holds.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenFile {
    /// Its name, or the last part of its path in a folder.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
}

/// A place on the canvas, in device pixels from its left and bottom edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pointer {
    pub x: f64,
    pub y: f64,
}

/// What a wheel turn changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WheelAxis {
    ZoomEvents,
    /// Zooms the bytes axis (Ctrl + wheel).
    ZoomBytes,
    /// Moves along the events (Shift + wheel, a trackpad's sideways scroll).
    MoveEvents,
}

/// A snapshot that shall be in a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotToSave {
    /// Where the file's bytes are.
    pub origin: Origin,
    pub load: u32,
    /// What it is called in the page.
    pub name: String,
}

/// A file to survey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileToSurvey {
    pub origin: Origin,
    /// Which snapshot of it.
    pub member: Option<u32>,
    pub name: String,
}

/// What the shell does about the survey.
#[derive(Clone, Debug, PartialEq)]
pub enum RanksEffect {
    /// Fetches the addresses of all files of `memscape serve`; [`RanksAction::Listed`](crate::ranks::RanksAction::Listed) has them.
    List,
    /// Surveys these files, and none of before.
    Begin(Vec<FileToSurvey>),
    /// Notes in the insight that there are files which are not surveyed: a sentence.
    Cut(String),
    /// Asks for the insight, with so many rows of each table, and the rows of its map in the order of this place.
    Ask(u32, u32, u32),
    /// What stands where in the names of files; empty: as usual.
    Names(String),
    Cancel,
    Resume,
    End,
}

/// Whether a file hangs over the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DropHover {
    /// No.
    #[default]
    Away,
    Over,
}

/// A device that shall be written as a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileToWrite {
    /// The snapshot it is in.
    pub snapshot: SnapshotToSave,
    /// Its ordinal there.
    pub device: i64,
    pub job: ExportJob,
    /// The rules that its categories are of.
    pub categories: Box<CategorySet>,
    /// What it is called.
    pub file: String,
    /// Whether it is gzipped.
    pub is_packed: bool,
    /// Whether it goes into the profiler's trace that was given.
    pub is_onto: bool,
    pub then: Then,
}

/// What becomes of a file that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The browser saves it.
    Save,
    /// It is opened, as one more of the files to choose from.
    Open,
    /// What is open is compared with it.
    Compare,
}

/// A page that shall be saved with snapshots in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageToSave {
    /// The open one, and the one that it is compared with.
    pub snapshots: Vec<SnapshotToSave>,
    /// What the page opens at: as the fragment of a link has it.
    pub view: String,
    pub file: String,
    /// Whether it is to answer in SQL, also where the single-file page as it was built does not.
    pub has_sql: bool,
}
