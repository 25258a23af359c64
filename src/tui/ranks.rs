//! Many ranks: their files are surveyed one after the other beside the open one; what is known of all makes the insight.

use compare::ranks::{OfFile, Order, Pattern, Rank, Ranks, named_by, report};
use engine::protocol::Report;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// What surveys a file: the survey, or why there is none, in one sentence.
pub type SurveyFile = fn(&Path) -> Result<OfFile, String>;

/// Between an archive and what is in it.
const INSIDE: &str = " › ";

/// The survey.
#[derive(Default)]
pub(crate) struct Survey {
    files: Vec<(String, PathBuf)>,
    done: Vec<(usize, Result<OfFile, String>)>,
    coming: Option<Receiver<(usize, Result<OfFile, String>)>>,
    pattern: String,
}

impl Survey {
    /// Surveys these files, by name and path, and none of before.
    pub(crate) fn begin(&mut self, files: Vec<(String, PathBuf)>, survey: SurveyFile) {
        *self = Survey { files, ..Survey::default() };
        self.resume(survey);
    }

    /// Surveys those of them that are not known yet.
    pub(crate) fn resume(&mut self, survey: SurveyFile) {
        let is_left = |(place, _): &(usize, PathBuf)| self.done.iter().all(|(done, _)| done != place);
        let left: Vec<(usize, PathBuf)> =
            self.files.iter().map(|(_, path)| path.clone()).enumerate().filter(is_left).collect();
        let (send, coming) = channel();
        self.coming = Some(coming);
        std::thread::spawn(move || {
            for (place, path) in left {
                // Nobody waits for it any more.
                if send.send((place, survey(&path))).is_err() {
                    return;
                }
            }
        });
    }

    /// Surveys no further. What is known stays.
    pub(crate) fn cancel(&mut self) {
        self.coming = None;
    }

    pub(crate) fn name_by(&mut self, pattern: String) {
        self.pattern = pattern;
    }

    /// Whether files are still to come.
    pub(crate) fn is_running(&self) -> bool {
        self.coming.is_some()
    }

    /// Takes what has come; how many files are known where that is more than before.
    pub(crate) fn take(&mut self) -> Option<usize> {
        let before = self.done.len();
        loop {
            match self.coming.as_ref()?.try_recv() {
                Ok(done) => self.done.push(done),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.coming = None;
                    break;
                }
            }
        }
        (self.done.len() > before).then_some(self.done.len())
    }

    /// The insight, with so many rows of each table at most.
    pub(crate) fn report(&self, rows: u32, order: u32) -> Report {
        let (mut ranks, mut notes) = (Vec::new(), Vec::new());
        let pattern = match self.pattern.trim() {
            "" => None,
            typed => Pattern::parse(typed).map_err(|error| notes.push(["File names: ", &error, "."].concat())).ok(),
        };
        let names: Vec<String> = self.files.iter().map(|(name, _)| name.replace(INSIDE, "/")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (said, _) = named_by(&names, pattern.as_ref());
        for (place, of) in &self.done {
            let (Some((file, _)), Some(named)) = (self.files.get(*place), said.get(*place)) else { continue };
            let rank = Rank { place: u32::try_from(*place).ok(), ..Rank::of(file.clone(), named.clone()) };
            match of {
                Ok(of) => {
                    let (found, note) = rank.of_file(of.clone());
                    ranks.extend(found);
                    notes.extend(note);
                }
                Err(error) => ranks.push(rank.failed(error.clone())),
            }
        }
        notes.sort_unstable();
        let order = Order::ALL.get(order as usize).copied().unwrap_or_default();
        report(&Ranks::new(ranks, notes), rows as usize, order)
    }
}
