//! Scans the snapshots of many ranks on a background thread.

use compare::ranks::{FileSurveys, Order, SurveyProgress};
use protocol::Report;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// A function that scans the snapshot in a file. Returns an error message on failure.
pub type SurveyFile = fn(&Path) -> Result<FileSurveys, String>;

/// Files that are being scanned, and the results so far.
#[derive(Default)]
pub(crate) struct Survey {
    paths: Vec<PathBuf>,
    gathering: SurveyProgress,
    results: Option<Receiver<(u32, Result<FileSurveys, String>)>>,
}

impl Survey {
    /// Starts a scan of these files, given as names and paths. `survey` scans one file.
    pub(crate) fn start(&mut self, files: Vec<(String, PathBuf)>, survey: SurveyFile) {
        let (names, paths) = files.into_iter().unzip();
        *self = Survey { paths, gathering: SurveyProgress::new(names), results: None };
        self.resume(survey);
    }

    /// Scans the files that have no result yet.
    pub(crate) fn resume(&mut self, survey: SurveyFile) {
        let is_left = |(place, _): &(u32, PathBuf)| !self.gathering.is_done(*place as usize);
        let left: Vec<(u32, PathBuf)> = (0..).zip(self.paths.iter().cloned()).filter(is_left).collect();
        let (send, coming) = channel();
        self.results = Some(coming);
        std::thread::spawn(move || {
            for (place, path) in left {
                // The receiver is gone, so the survey was cancelled.
                if send.send((place, survey(&path))).is_err() {
                    return;
                }
            }
        });
    }

    /// Stops the scan, and keeps the results so far.
    pub(crate) fn cancel(&mut self) {
        self.results = None;
    }

    pub(crate) fn name_by(&mut self, pattern: String) {
        self.gathering.set_pattern(pattern);
    }

    /// Returns true while the background thread is scanning.
    pub(crate) fn is_running(&self) -> bool {
        self.results.is_some()
    }

    /// Collects new results. Returns the number of scanned files if it has increased.
    pub(crate) fn poll(&mut self) -> Option<usize> {
        let before = self.gathering.done();
        loop {
            match self.results.as_ref()?.try_recv() {
                Ok((place, of)) => self.gathering.add(place, of),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.results = None;
                    break;
                }
            }
        }
        let done = self.gathering.done();
        (done > before).then_some(done)
    }

    /// Returns the report on all ranks scanned so far, with at most `rows` rows per table.
    pub(crate) fn report(&self, rows: u32, order: u32) -> Report {
        self.gathering.report(rows as usize, Order::ALL.get(order as usize).copied().unwrap_or_default())
    }
}
