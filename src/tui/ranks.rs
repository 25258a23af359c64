//! Many ranks: their files are surveyed one after the other beside the open one; what is known of all makes the insight.

use compare::ranks::{Gathering, OfFile, Order};
use engine::protocol::Report;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// What surveys a file: the survey, or why there is none, in one sentence.
pub type SurveyFile = fn(&Path) -> Result<OfFile, String>;

/// The survey.
#[derive(Default)]
pub(crate) struct Survey {
    paths: Vec<PathBuf>,
    gathering: Gathering,
    coming: Option<Receiver<(u32, Result<OfFile, String>)>>,
}

impl Survey {
    /// Surveys these files, by name and path, and none of before.
    pub(crate) fn begin(&mut self, files: Vec<(String, PathBuf)>, survey: SurveyFile) {
        let (names, paths) = files.into_iter().unzip();
        *self = Survey { paths, gathering: Gathering::new(names), coming: None };
        self.resume(survey);
    }

    /// Surveys those of them that are not known yet.
    pub(crate) fn resume(&mut self, survey: SurveyFile) {
        let is_left = |(place, _): &(u32, PathBuf)| !self.gathering.is_done(*place as usize);
        let left: Vec<(u32, PathBuf)> = (0..).zip(self.paths.iter().cloned()).filter(is_left).collect();
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
        self.gathering.set_pattern(pattern);
    }

    /// Whether files are still to come.
    pub(crate) fn is_running(&self) -> bool {
        self.coming.is_some()
    }

    /// Takes what has come; how many files are known where that is more than before.
    pub(crate) fn take(&mut self) -> Option<usize> {
        let before = self.gathering.done();
        loop {
            match self.coming.as_ref()?.try_recv() {
                Ok((place, of)) => self.gathering.take(place, of),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.coming = None;
                    break;
                }
            }
        }
        let done = self.gathering.done();
        (done > before).then_some(done)
    }

    /// The insight, with so many rows of each table at most.
    pub(crate) fn report(&self, rows: u32, order: u32) -> Report {
        self.gathering.report(rows as usize, Order::ALL.get(order as usize).copied().unwrap_or_default())
    }
}
