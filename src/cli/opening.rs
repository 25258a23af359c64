//! Opens snapshots in an engine and shows progress on a terminal.

use super::cache::CacheEntry;
use super::cancellation;
use super::input::Input;
use super::kept_file::{self, OpenedFile};
use super::memory_warning::warning;
use super::output::print_stderr;
use base::units::Bytes;
use engine::{Engine, NeededBytes, Reply, Request, Work};
use protocol::{FileSummary, LeaveOut, LoadRange, Member, Progress};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::OnceLock;

/// Range of events to load from each file. Set once at startup.
static LOAD_RANGE: OnceLock<LoadRange> = OnceLock::new();

/// Sets the range of events to load from all files that are opened later.
pub(crate) fn set_load_range(range: LoadRange) {
    let _ = LOAD_RANGE.set(range);
}

/// Kinds of texts that are left out of each file. Set before files are opened.
static LEFT_OUT: OnceLock<LeaveOut> = OnceLock::new();

/// Leaves texts of these kinds out of all files that are opened later.
pub(crate) fn set_left_out(what: LeaveOut) {
    let _ = LEFT_OUT.set(what);
}

/// Returns the kinds of texts that are left out of each file. `None` if files are opened as they are.
pub(crate) fn left_out() -> Option<LeaveOut> {
    LEFT_OUT.get().copied()
}

/// Returns the last component of a path, or the whole path if there is none.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Opens the first snapshot of a file. Prints a note if the file contains several.
pub(crate) fn open_first(input: &mut Input, path: &Path) -> Result<(FileSummary, OpenedFile), String> {
    let mut members = Vec::new();
    let mut opened = open(input, &name_of(path), None, &mut members)?;
    // Finish background work now: some answers need it, and others are faster with it.
    while opened.1.step(&mut cancellation::should_continue) == Work::More {
        cancellation::check()?;
    }
    if members.len() > 1 {
        print_stderr(&format!("{}: reading the first of {} snapshots", path.display(), members.len()));
    }
    Ok(opened)
}

/// Opens a file, keeps it open between requests, and closes the previously open file.
///
/// # Errors
/// Returns an error message if the file cannot be read.
pub(crate) fn keep_open(file: &Path, device: Option<i64>) -> Result<FileSummary, String> {
    let mut input = Input::open(file).map_err(|error| error.to_string())?;
    let (summary, opened) = open_first(&mut input, file)?;
    kept_file::put(file, device, summary.clone(), opened);
    Ok(summary)
}

/// Opens one snapshot of a file, from the cache if possible. Returns its summary and an engine, or an error message. If
/// the file contains several snapshots, their names are stored in `members`.
pub(crate) fn open(
    input: &mut Input,
    name: &str,
    member: Option<u32>,
    members: &mut Vec<Member>,
) -> Result<(FileSummary, OpenedFile), String> {
    let show = io::stderr().is_terminal();
    let place = cache_entry(input, member);
    if let Some(place) = &place
        && let Some(mut kept) = place.open()
    {
        match open_with(Engine::new(), &mut kept, name, None, &mut Vec::new(), show) {
            Ok((summary, engine)) => return Ok((summary, OpenedFile::new(engine, None))),
            Err(_) => place.remove(),
        }
    }
    warn_if_large(input, name, member);
    let (summary, engine) = open_with(Engine::new(), input, name, member, members, show)?;
    let place = place.filter(|_| members.is_empty());
    Ok((summary, OpenedFile::new(engine, place)))
}

/// Returns the cache entry of a file, or `None` if a part of the file is loaded: a member, a range of events, or all
/// but private texts.
pub(crate) fn cache_entry(input: &Input, member: Option<u32>) -> Option<CacheEntry> {
    if member.is_none() && loads_all() && left_out().is_none() { CacheEntry::for_input(input) } else { None }
}

/// Returns true if files are loaded with all their events (no `--load-…` option).
fn loads_all() -> bool {
    LOAD_RANGE.get().is_none_or(|range| *range == LoadRange::ALL)
}

/// Prints a warning if the file may not fit in memory, once per file even if it contains several snapshots. Prints
/// nothing for pipes, whose length is unknown, and for files without a name, which `memscape serve` opens.
fn warn_if_large(input: &Input, name: &str, member: Option<u32>) {
    if member.is_none() && !name.is_empty() && loads_all() {
        input.total_bytes().and_then(|bytes| warning(name, bytes)).iter().for_each(|warning| print_stderr(warning));
    }
}

/// Opens one snapshot of a file in the given engine, without the cache. Prints progress if `show` is true.
pub(crate) fn open_with(
    mut engine: Engine,
    input: &mut Input,
    name: &str,
    member: Option<u32>,
    members: &mut Vec<Member>,
    show: bool,
) -> Result<(FileSummary, Engine), String> {
    LOAD_RANGE.get().into_iter().for_each(|&range| engine.request(Request::Load(range)));
    left_out().into_iter().for_each(|what| engine.leave_out(what));
    let begin = |engine: &mut Engine, input: &mut Input| {
        let (name, total_bytes, access) = (name.to_owned(), input.total_bytes(), input.access());
        engine.request(Request::Open { name, total_bytes, access, member });
        input.rewind().map_err(|error| error.to_string())
    };
    begin(&mut engine, input)?;
    loop {
        cancellation::check()?;
        match engine.wants() {
            None => {}
            Some(NeededBytes::WholeFile) => {
                input.copy_to_file().map_err(|error| error.to_string())?;
                begin(&mut engine, input)?;
            }
            Some(want) => {
                let chunk = input.chunk(want).map_err(|error| error.to_string())?;
                if chunk.is_empty() {
                    engine.request(Request::EndOfFile);
                } else {
                    engine.feed(chunk);
                }
            }
        }
        let work = engine.step(&mut cancellation::should_continue);
        while let Some(reply) = engine.next_reply() {
            match reply {
                Reply::Progress(progress) if show => show_progress(&progress),
                Reply::Members(found) => *members = found,
                Reply::Failed { message } => return Err(message),
                Reply::Opened(summary) => {
                    if show {
                        replace_progress_line("");
                    }
                    return Ok((*summary, engine));
                }
                _ => {}
            }
        }
        if work == Work::Idle && !engine.is_loading() {
            return Err("empty input".to_owned());
        }
    }
}

fn show_progress(now: &Progress) {
    let total = now.total_bytes.map_or_else(String::new, |total| format!(" of {}", Bytes(total)));
    replace_progress_line(&format!("{:?}: {}{total}", now.phase, Bytes(now.bytes)));
}

/// Replaces the progress line on the terminal.
fn replace_progress_line(text: &str) {
    let _ = write!(io::stderr(), "\r\x1b[K{text}");
}
