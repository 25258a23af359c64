//! State and actions of the rank survey, which scans many snapshots of one program, one per rank.

use base::units::{group_digits, pluralize};
use protocol::Reply;

/// State of the rank survey, which scans many snapshots of one program, one per rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranks {
    pub files: usize,
    pub done: usize,
    /// Number of files that the server has added since the rank survey started.
    pub newer: usize,
    /// Number of files on the server, including files that the page does not list.
    pub(crate) server_files: usize,
    /// True while the rank survey is waiting for [`RanksAction::Listed`].
    pub(crate) waits_for_list: bool,
    pub stage: Survey,
    /// Index of the sort order that is chosen for the rows of the map.
    pub order: u32,
    /// Version of the results. Incremented when a rank survey starts and when a file has been scanned.
    pub(crate) version: u32,
    /// True if the open file was opened automatically. If it fails to open, the next file is tried.
    pub(crate) tries_next: bool,
}

/// Stage of the rank survey.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Survey {
    #[default]
    None,
    /// The user can start a rank survey of the server's files.
    Offered,
    Running,
    Cancelled,
    Done,
    /// The rank survey could not run. Holds the error message.
    Failed(String),
}

impl Ranks {
    pub fn is_available(&self) -> bool {
        self.stage != Survey::None
    }

    pub fn is_running(&self) -> bool {
        self.stage == Survey::Running
    }

    /// Returns whether a rank survey was started.
    pub(crate) fn is_started(&self) -> bool {
        self.is_available() && self.stage != Survey::Offered
    }

    /// Returns whether the workers of the rank survey accept requests. They start after the list of files has arrived.
    pub(crate) fn is_ready(&self) -> bool {
        self.is_started() && !self.waits_for_list
    }

    fn newer_files(&self) -> String {
        if self.newer == 0 {
            String::new()
        } else {
            format!(" Not surveyed: {}.", pluralize(self.newer as u64, "newer file"))
        }
    }

    /// Returns the label of the button that starts, stops or repeats the rank survey. `None` if the button is hidden.
    pub fn toggle(&self) -> Option<&'static str> {
        match self.stage {
            Survey::Offered => Some("Survey"),
            Survey::Running => Some("Cancel"),
            Survey::Cancelled => Some("Resume"),
            Survey::Done if self.newer > 0 => Some("Survey again"),
            Survey::None | Survey::Done | Survey::Failed(_) => None,
        }
    }

    /// Returns the status line above the insight about ranks.
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

/// List of all files that `memscape serve` found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedFiles {
    /// Addresses of the files, in the form used in links.
    pub addresses: Vec<String>,
    /// Notes about folders that the server did not search.
    pub notes: Vec<String>,
}

impl ServedFiles {
    /// Parses the list sent by `memscape serve` (see `src/cli/serve/listing.rs`). A line is an address, or a note if it
    /// starts with `! `.
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

/// User input about the rank survey, and its progress.
#[derive(Clone, Debug, PartialEq)]
pub enum RanksAction {
    /// A file was scanned. Holds the number of files scanned so far.
    Surveyed(usize),
    /// The server sent the list of all its files, or fetching the list failed. Holds the list or the error message.
    Listed(Result<ServedFiles, String>),
    /// Files were skipped, because they are unreadable or too many. Holds a sentence that says which.
    FilesSkipped(String),
    /// A worker of the rank survey replied. Handled like a reply of the open file's worker.
    Reply(Reply),
    /// The rank survey could not run. Holds the error message.
    Failed(String),
    /// The button that starts, cancels or resumes the rank survey was clicked.
    Toggled,
    /// A sort order for the rows of the map was chosen. Holds its index.
    OrderChosen(u32),
    /// A pattern that extracts ranks from file names was typed. Empty text restores the default.
    NamesTyped(String),
}
