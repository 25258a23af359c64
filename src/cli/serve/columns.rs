//! A snapshot decoded here and sent as columns: a sixth of what gzip makes of the file, and less work for the page. On a line of
//! 20 MB/s the picture is there sooner (tests/bench/serve.rs), though nothing is sent before all is decoded. What was decoded is kept
//! for a page that is loaded again.

use super::{Input, open};
use axum::body::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::Metadata;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Weak};
use std::time::SystemTime;

/// Bytes of files that are decoded here. Smaller ones are there at once as they are; larger ones would take gigabytes of memory on a
/// machine that others use, and a packed file unpacks to ten or twenty times its length.
const PLAIN: std::ops::RangeInclusive<u64> = 8 << 20..=2 << 30;
const PACKED: std::ops::RangeInclusive<u64> = 8 << 20..=128 << 20;
/// Bytes of columns that are kept, and files of which it is known what they are: a run's ranks are looked at one after another.
const MOST_KEPT: usize = 256 << 20;
const MOST_FILES: usize = 200;

/// A snapshot as columns in gzip; `None` for a file that is sent as it is: there are several in it, or it is none, which the page then
/// says.
type Found = Option<Bytes>;

/// Whether somebody waits for an answer: as long as that is there, which is as long as the connection is.
#[derive(Clone)]
pub(super) struct Peer(pub(super) Weak<()>);

impl Peer {
    /// # Errors
    /// The client has gone.
    pub(super) fn waits(&self) -> io::Result<()> {
        if self.0.strong_count() > 0 { Ok(()) } else { Err(io::ErrorKind::ConnectionAborted.into()) }
    }
}

/// A state of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FileVersion {
    path: PathBuf,
    length: u64,
    changed: SystemTime,
}

impl FileVersion {
    /// `None` where the system does not say when it was changed.
    pub(super) fn of(path: &Path, metadata: &Metadata) -> Option<FileVersion> {
        Some(FileVersion { path: path.to_owned(), length: metadata.len(), changed: metadata.modified().ok()? })
    }
}

/// What was decoded.
#[derive(Default)]
pub(super) struct Columns {
    /// One is decoded at a time, however many are asked for.
    one: Mutex<()>,
    /// The oldest first.
    kept: Mutex<Vec<(FileVersion, Found)>>,
}

impl Columns {
    /// The columns of a file; `None` where it is sent as it is.
    ///
    /// # Errors
    /// Nobody waits for them any more.
    pub(super) fn of(&self, state: &FileVersion, is_packed: bool, peer: &Peer) -> io::Result<Found> {
        if !(if is_packed { PACKED } else { PLAIN }).contains(&state.length) {
            return Ok(None);
        }
        if let Some(found) = self.known(state) {
            return Ok(found);
        }
        // One that panicked would have ended the program.
        let _one = self.one.lock().map_err(|_| io::ErrorKind::Other)?;
        // Whoever was before us may have asked for the same.
        if let Some(found) = self.known(state) {
            return Ok(found);
        }
        peer.waits()?;
        let found = decoded(state, peer).filter(|columns| (columns.len() as u64) < state.length).map(Bytes::from);
        // It may have ended for want of a reader.
        peer.waits()?;
        let is_same = |now: Metadata| FileVersion::of(&state.path, &now).as_ref() == Some(state);
        if std::fs::metadata(&state.path).is_ok_and(is_same) {
            self.keep(state.clone(), found.clone());
        }
        Ok(found)
    }

    fn known(&self, state: &FileVersion) -> Option<Found> {
        let mut kept = self.kept.lock().ok()?;
        let at = kept.iter().position(|(of, _)| of == state)?;
        // What is asked for again is the last to go.
        let found = kept.remove(at);
        kept.push(found.clone());
        Some(found.1)
    }

    fn keep(&self, state: FileVersion, found: Found) {
        let Ok(mut kept) = self.kept.lock() else { return };
        kept.retain(|(of, _)| of.path != state.path);
        kept.push((state, found));
        let bytes = |(_, found): &(FileVersion, Found)| found.as_ref().map_or(0, |columns| columns.len());
        while kept.len() > MOST_FILES || kept.iter().map(bytes).sum::<usize>() > MOST_KEPT {
            kept.remove(0);
        }
    }
}

fn decoded(state: &FileVersion, peer: &Peer) -> Option<Vec<u8>> {
    let mut input = Input::open(&state.path).ok()?;
    let watching = peer.clone();
    input.watch(Box::new(move || watching.waits()));
    let mut members = Vec::new();
    let (_, engine) = open(&mut input, "", None, &mut members).ok()?;
    if members.len() > 1 {
        return None;
    }
    let out = Watched { bytes: Vec::new(), peer };
    let gzip = engine.write_columns(GzEncoder::new(out, Compression::fast())).ok()?;
    gzip.finish().ok().map(|out| out.bytes)
}

/// Bytes that somebody waits for.
struct Watched<'a> {
    bytes: Vec<u8>,
    peer: &'a Peer,
}

impl Write for Watched<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.peer.waits()?;
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../../tests/units/cli/serve/columns.rs"]
mod tests;
