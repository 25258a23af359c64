//! A file → an engine that has it open, with progress on a terminal.

use super::cache::Place;
use super::cancelled;
use super::input::Input;
use super::kept::{self, Opened};
use super::output::say;
use super::room::warning;
use base::units::Bytes;
use engine::protocol::{FileSummary, LoadRange, Member, Progress};
use engine::{Engine, Reply, Request, Want, Work};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::OnceLock;

/// The events that files are opened with: the program is told once.
static LOADED: OnceLock<LoadRange> = OnceLock::new();

/// Has files opened with these events only, from now on.
pub(crate) fn load(range: LoadRange) {
    let _ = LOADED.set(range);
}

/// A file's name without its folders.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Opens the first snapshot of a file, and says so where there are several.
pub(crate) fn open_first(input: &mut Input, path: &Path) -> Result<(FileSummary, Opened), String> {
    let mut members = Vec::new();
    let mut opened = open(input, &name_of(path), None, &mut members)?;
    // Answers need it, or are faster with it.
    while opened.1.step(&mut cancelled::goes_on) == Work::More {
        cancelled::check()?;
    }
    if members.len() > 1 {
        say(&format!("{}: reading the first of {} snapshots", path.display(), members.len()));
    }
    Ok(opened)
}

/// Opens a file and keeps it open between questions, in place of the one before.
///
/// # Errors
/// It cannot be read: one sentence.
pub(crate) fn keep_open(file: &Path, device: Option<i64>) -> Result<FileSummary, String> {
    let mut input = Input::open(file).map_err(|error| error.to_string())?;
    let (summary, opened) = open_first(&mut input, file)?;
    kept::put(file, device, summary.clone(), opened);
    Ok(summary)
}

/// Opens one snapshot of a file, or what is kept of it; its summary and what answers questions about it, or one sentence. Where there are
/// several, `members` gets their names.
pub(crate) fn open(
    input: &mut Input,
    name: &str,
    member: Option<u32>,
    members: &mut Vec<Member>,
) -> Result<(FileSummary, Opened), String> {
    let show = io::stderr().is_terminal();
    let place = place(input, member);
    if let Some(place) = &place
        && let Some(mut kept) = place.take()
    {
        match open_with(Engine::new(), &mut kept, name, None, &mut Vec::new(), show) {
            Ok((summary, engine)) => return Ok((summary, Opened::once(engine, None))),
            Err(_) => place.remove(),
        }
    }
    warn(input, name, member);
    let (summary, engine) = open_with(Engine::new(), input, name, member, members, show)?;
    let place = place.filter(|_| members.is_empty());
    Ok((summary, Opened::once(engine, place)))
}

/// The place of a file in the cache, where it has one.
pub(crate) fn place(input: &Input, member: Option<u32>) -> Option<Place> {
    if member.is_none() && loads_all() { Place::of(input) } else { None }
}

/// Whether files are opened with all their events.
fn loads_all() -> bool {
    LOADED.get().is_none_or(|range| *range == LoadRange::ALL)
}

/// Says so where a file may not fit into memory: once, also where there are several snapshots in it. What is served is small, and has no
/// name here; how much comes through a pipe nobody knows.
fn warn(input: &Input, name: &str, member: Option<u32>) {
    if member.is_none() && !name.is_empty() && loads_all() {
        input.total_bytes().and_then(|bytes| warning(name, bytes)).iter().for_each(|warning| say(warning));
    }
}

/// The same with an engine of one's own; progress is shown on the terminal, if at all.
pub(crate) fn open_with(
    mut engine: Engine,
    input: &mut Input,
    name: &str,
    member: Option<u32>,
    members: &mut Vec<Member>,
    show: bool,
) -> Result<(FileSummary, Engine), String> {
    LOADED.get().into_iter().for_each(|&range| engine.request(Request::Load(range)));
    let begin = |engine: &mut Engine, input: &mut Input| {
        let (name, total_bytes, access) = (name.to_owned(), input.total_bytes(), input.access());
        engine.request(Request::Open { name, total_bytes, access, member });
        input.rewind().map_err(|error| error.to_string())
    };
    begin(&mut engine, input)?;
    loop {
        cancelled::check()?;
        match engine.wants() {
            None => {}
            Some(Want::Whole) => {
                input.keep_whole().map_err(|error| error.to_string())?;
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
        let work = engine.step(&mut cancelled::goes_on);
        while let Some(reply) = engine.next_reply() {
            match reply {
                Reply::Progress(progress) if show => show_progress(&progress),
                Reply::Members(found) => *members = found,
                Reply::Failed { message } => return Err(message),
                Reply::Opened(summary) => {
                    if show {
                        progress("");
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
    progress(&format!("{:?}: {}{total}", now.phase, Bytes(now.bytes)));
}

/// Replaces the line on the terminal.
fn progress(text: &str) {
    let _ = write!(io::stderr(), "\r\x1b[K{text}");
}
