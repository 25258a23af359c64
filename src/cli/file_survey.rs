//! Scans one file for `memscape ranks`: totals, call sites and live-bytes curve of each rank in the file.

use super::cancellation;
use super::input::Input;
use super::memory_warning::free_bytes;
use super::opening::open_with;
use base::slice::TimeSlice;
use compare::ranks::{FileSurvey, FileSurveys};
use engine::Engine;
use protocol::FileSummary;
use std::io;
use std::path::Path;

/// Opens a file and scans each rank in it. `watch` is called before each chunk is read, and its error stops the scan.
///
/// # Errors
/// Returns an error message if the file cannot be read or contains several snapshots.
pub(super) fn survey_file(path: &Path, watch: Box<dyn FnMut() -> io::Result<()>>) -> Result<FileSurveys, String> {
    let mut input = Input::open(path).map_err(|error| error.to_string())?;
    input.set_before_chunk(watch);
    let mut members = Vec::new();
    let engine = Engine::with_memory_limit(default_memory_bytes());
    let (summary, engine) = open_with(engine, &mut input, "", None, &mut members, false)?;
    if members.len() > 1 {
        return Err(format!("an archive of {} snapshots: unpack it to survey them", members.len()));
    }
    survey_open_file(&summary, &engine)
}

/// Scans each rank in a file that is already open in `engine`.
pub(super) fn survey_open_file(summary: &FileSummary, engine: &Engine) -> Result<FileSurveys, String> {
    let mut survey = FileSurvey::new(summary)?;
    loop {
        cancellation::check()?;
        if let Ok(of) =
            survey.step(|device| engine.side(device), &mut TimeSlice::new(&mut cancellation::should_continue))
        {
            return Ok(of);
        }
    }
}

/// Returns half of the available memory in bytes, or 4 GiB if the system does not report it.
pub(super) fn default_memory_bytes() -> u64 {
    free_bytes().map_or(4 << 30, |bytes| bytes / 2)
}
