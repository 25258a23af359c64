//! A file → an engine that has it open, with progress on a terminal.

use super::input::Input;
use base::units::Bytes;
use engine::protocol::{FileSummary, Member, Progress};
use engine::{Engine, Reply, Request, Want, Work};
use std::io::{self, IsTerminal};

/// A file's name without its folders.
pub(crate) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Opens one snapshot of a file; its summary and what answers questions about it, or one sentence. Where there are several, `members`
/// gets their names.
pub(crate) fn open(
    input: &mut Input,
    name: &str,
    member: Option<u32>,
    members: &mut Vec<Member>,
) -> Result<(FileSummary, Engine), String> {
    let show = io::stderr().is_terminal();
    let mut engine = Engine::new();
    let begin = |engine: &mut Engine, input: &mut Input| {
        let (name, total_bytes, access) = (name.to_owned(), input.total_bytes(), input.access());
        engine.request(Request::Open { name, total_bytes, access, member });
        input.rewind().map_err(|error| error.to_string())
    };
    begin(&mut engine, input)?;
    loop {
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
        let work = engine.step(&mut || true);
        while let Some(reply) = engine.next_reply() {
            match reply {
                Reply::Progress(progress) if show => show_progress(&progress),
                Reply::Members(found) => *members = found,
                Reply::Failed { message } => return Err(message),
                Reply::Opened(summary) => {
                    if show {
                        eprint!("\r\x1b[K");
                    }
                    return Ok((*summary, engine));
                }
                _ => {}
            }
        }
        if work == Work::Idle && !engine.is_loading() {
            return Err("nothing was read".to_owned());
        }
    }
}

fn show_progress(progress: &Progress) {
    let total = progress.total_bytes.map_or_else(String::new, |total| format!(" of {}", Bytes(total)));
    eprint!("\r\x1b[K{:?}: {}{total}", progress.phase, Bytes(progress.bytes));
}
