//! How far a survey of many ranks is, and what can happen to it.

use engine::protocol::Reply;

/// The survey.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranks {
    pub files: usize,
    pub done: usize,
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

    /// Whether there is something to ask.
    pub(crate) fn is_begun(&self) -> bool {
        self.is_any() && self.stage != Survey::Offered
    }

    /// The snapshot of a place is to be opened, or compared with the open one, which is A.
    pub(crate) fn want(&mut self, open: usize, place: u32, is_compared: bool) {
        let place = place as usize;
        self.wanted = Some(if is_compared { (open, Some(place)) } else { (place, None) });
    }

    /// What stands above the insight.
    pub fn status(&self) -> String {
        let of = |word: &str| format!("{word}{} of {} files surveyed.", self.done, self.files);
        match &self.stage {
            Survey::None => String::new(),
            Survey::Offered => format!("The server can survey these {} files.", self.files),
            Survey::Done => format!("{} files surveyed.", self.files),
            Survey::Running => of(""),
            Survey::Cancelled => of("Cancelled: "),
            Survey::Failed(cause) => cause.clone(),
        }
    }
}

/// What happened to the survey.
#[derive(Clone, Debug, PartialEq)]
pub enum RanksAction {
    /// So many files are done.
    Surveyed(usize),
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
