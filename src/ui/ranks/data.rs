//! How far a survey of many ranks is, and what can happen to it.

use base::units::{counted, grouped};
use engine::protocol::Reply;

/// The survey.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranks {
    pub files: usize,
    pub done: usize,
    /// Files that the server has listed since the survey began.
    pub newer: usize,
    /// Number of files that the server has, also of those that it does not list.
    pub(super) served: usize,
    /// Whether the survey waits for [`RanksAction::Listed`].
    pub(super) waits_for_list: bool,
    pub stage: Survey,
    /// The order of the rows of the map, by its place in the list.
    pub order: u32,
    /// Grows with each survey and each file of it: what was told before holds no more.
    pub(crate) version: u32,
    /// Whether no person has chosen the open file: where it can't be read, the next one is tried.
    pub(super) opens_any: bool,
    /// What is to be opened, and what it is to be compared with: places in the list of snapshots.
    pub(crate) wanted: Option<(usize, Option<usize>)>,
}

/// How far it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Survey {
    #[default]
    None,
    /// The server can survey its files.
    Offered,
    Running,
    Cancelled,
    Done,
    /// It could not begin: one sentence.
    Failed(String),
}

impl Ranks {
    /// Whether there is a survey.
    pub fn is_any(&self) -> bool {
        self.stage != Survey::None
    }

    /// Whether files are being surveyed.
    pub fn is_running(&self) -> bool {
        self.stage == Survey::Running
    }

    /// Whether a survey was started.
    pub(crate) fn is_begun(&self) -> bool {
        self.is_any() && self.stage != Survey::Offered
    }

    /// Whether the workers of a survey can be asked. While the list of files is fetched, they are still to be started.
    pub(crate) fn can_be_asked(&self) -> bool {
        self.is_begun() && !self.waits_for_list
    }

    /// The snapshot of a place is to be opened, or compared with the open one, which is A.
    pub(crate) fn want(&mut self, open: usize, place: u32, is_compared: bool) {
        let place = place as usize;
        self.wanted = Some(if is_compared { (open, Some(place)) } else { (place, None) });
    }

    fn newer_files(&self) -> String {
        if self.newer == 0 {
            String::new()
        } else {
            format!(" Not surveyed: {}.", counted(self.newer as u64, "newer file"))
        }
    }

    /// The label of the button that starts, stops or repeats the survey; `None` where there is nothing to do.
    pub fn toggle(&self) -> Option<&'static str> {
        match self.stage {
            Survey::Offered => Some("Survey"),
            Survey::Running => Some("Cancel"),
            Survey::Cancelled => Some("Resume"),
            Survey::Done if self.newer > 0 => Some("Survey again"),
            Survey::None | Survey::Done | Survey::Failed(_) => None,
        }
    }

    /// What stands above the insight.
    pub fn status(&self) -> String {
        let of = |word: &str| {
            format!(
                "{word}{} of {} files surveyed.{}",
                grouped(self.done as u64),
                grouped(self.files as u64),
                self.newer_files()
            )
        };
        match &self.stage {
            Survey::None => String::new(),
            Survey::Offered => format!("The server can survey these {} files.", grouped(self.files as u64)),
            Survey::Running if self.waits_for_list => "Listing the files of the server…".to_owned(),
            Survey::Done => format!("{} files surveyed.{}", grouped(self.files as u64), self.newer_files()),
            Survey::Running => of(""),
            Survey::Cancelled => of("Cancelled: "),
            Survey::Failed(cause) => cause.clone(),
        }
    }
}

/// All files of `memscape serve`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedFiles {
    /// As links have them.
    pub addresses: Vec<String>,
    /// Sentences on what the server did not search.
    pub missed: Vec<String>,
}

impl ServedFiles {
    /// Reads what `memscape serve` sends (`src/cli/serve/listing.rs`): an address a line, and lines that begin with `! `.
    pub fn parse(text: &str) -> ServedFiles {
        let mut files = ServedFiles::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            match line.strip_prefix("! ") {
                Some(sentence) => files.missed.push(sentence.to_owned()),
                None => files.addresses.push(line.to_owned()),
            }
        }
        files
    }
}

/// What happened to the survey.
#[derive(Clone, Debug, PartialEq)]
pub enum RanksAction {
    /// So many files are done.
    Surveyed(usize),
    /// All files of the server, or the reason why they are not known.
    Listed(Result<ServedFiles, String>),
    /// Files were left out when they were given: a sentence.
    Cut(String),
    /// The answer to a question.
    Told(Reply),
    /// There is no survey: one sentence.
    Failed(String),
    /// It begins, was cancelled, or goes on.
    Toggled,
    /// An order of the rows of the map, by its place in the list.
    OrderChosen(u32),
    /// What stands where in the names of files.
    NamesTyped(String),
}
