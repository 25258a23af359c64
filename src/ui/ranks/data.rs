//! State and actions of the survey of many ranks.

use base::units::{group_digits, pluralize};
use engine::protocol::Reply;

/// State of the survey.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranks {
    pub files: usize,
    pub done: usize,
    /// Number of files that the server has listed since the survey started.
    pub newer: usize,
    /// Number of files on the server, including those that it does not list.
    pub(super) server_files: usize,
    /// True while the survey waits for [`RanksAction::Listed`].
    pub(super) waits_for_list: bool,
    pub stage: Survey,
    /// Index of the chosen sort order of the map's rows.
    pub order: u32,
    /// Version of the results, incremented with each survey and each surveyed file.
    pub(crate) version: u32,
    /// True if the open file was opened automatically. If it fails to open, the next one is tried.
    pub(super) tries_next: bool,
    /// Snapshot to open, and snapshot to compare it with, as indices into the list of snapshots.
    pub(crate) wanted: Option<(usize, Option<usize>)>,
}

/// Stage of the survey.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Survey {
    #[default]
    None,
    /// The server can survey its files.
    Offered,
    Running,
    Cancelled,
    Done,
    /// The survey could not run. Holds the reason as a sentence.
    Failed(String),
}

impl Ranks {
    pub fn is_available(&self) -> bool {
        self.stage != Survey::None
    }

    pub fn is_running(&self) -> bool {
        self.stage == Survey::Running
    }

    /// Returns true if a survey was started.
    pub(crate) fn is_started(&self) -> bool {
        self.is_available() && self.stage != Survey::Offered
    }

    /// Returns true if the survey's workers can answer questions. They start only after the list of files has arrived.
    pub(crate) fn is_ready(&self) -> bool {
        self.is_started() && !self.waits_for_list
    }

    /// Requests that the snapshot at index `index` is opened, or compared with the snapshot at index `open`, which
    /// becomes A.
    pub(crate) fn request_open(&mut self, open: usize, index: u32, is_compared: bool) {
        let index = index as usize;
        self.wanted = Some(if is_compared { (open, Some(index)) } else { (index, None) });
    }

    fn newer_files(&self) -> String {
        if self.newer == 0 {
            String::new()
        } else {
            format!(" Not surveyed: {}.", pluralize(self.newer as u64, "newer file"))
        }
    }

    /// Returns the label of the button that starts, stops or repeats the survey. `None` if there is no such button.
    pub fn toggle(&self) -> Option<&'static str> {
        match self.stage {
            Survey::Offered => Some("Survey"),
            Survey::Running => Some("Cancel"),
            Survey::Cancelled => Some("Resume"),
            Survey::Done if self.newer > 0 => Some("Survey again"),
            Survey::None | Survey::Done | Survey::Failed(_) => None,
        }
    }

    /// Returns the status line above the insight.
    pub fn status(&self) -> String {
        let counts_text = |word: &str| {
            format!(
                "{word}{} of {} files surveyed.{}",
                group_digits(self.done as u64),
                group_digits(self.files as u64),
                self.newer_files()
            )
        };
        match &self.stage {
            Survey::None => String::new(),
            Survey::Offered => format!("The server can survey these {} files.", group_digits(self.files as u64)),
            Survey::Running if self.waits_for_list => "Listing the files of the server…".to_owned(),
            Survey::Done => format!("{} files surveyed.{}", group_digits(self.files as u64), self.newer_files()),
            Survey::Running => counts_text(""),
            Survey::Cancelled => counts_text("Cancelled: "),
            Survey::Failed(cause) => cause.clone(),
        }
    }
}

/// List of all files of `memscape serve`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedFiles {
    /// Addresses in the form that links use.
    pub addresses: Vec<String>,
    /// Notes about folders that the server did not search.
    pub notes: Vec<String>,
}

impl ServedFiles {
    /// Parses the listing of `memscape serve` (see `src/cli/serve/listing.rs`): one address per line, and notes that
    /// start with `! `.
    pub fn parse(text: &str) -> ServedFiles {
        let mut files = ServedFiles::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            match line.strip_prefix("! ") {
                Some(sentence) => files.notes.push(sentence.to_owned()),
                None => files.addresses.push(line.to_owned()),
            }
        }
        files
    }
}

/// User input about the survey, and its progress.
#[derive(Clone, Debug, PartialEq)]
pub enum RanksAction {
    /// Number of files surveyed so far.
    Surveyed(usize),
    /// All files of the server, or the error that prevented listing them.
    Listed(Result<ServedFiles, String>),
    /// Files were skipped when they were opened. Holds a sentence about them.
    FilesSkipped(String),
    /// A reply of the survey's workers, handled like one of the open file's worker.
    Reply(Reply),
    /// The survey could not run. Holds the reason as a sentence.
    Failed(String),
    /// The survey's button was clicked: start, cancel or resume.
    Toggled,
    /// Index of the chosen sort order of the map's rows.
    OrderChosen(u32),
    /// The typed pattern that extracts ranks from file names. Empty restores the default.
    NamesTyped(String),
}
