//! Snapshots decoded by the server and sent to the page as columns. They are a sixth of the size of the gzipped file
//! and faster to open in the page.
//!
//! At 20 MB/s the page is ready sooner this way (tests/bench/serve.rs), although sending starts only after decoding.
//! Results are cached for pages that are reloaded.

use super::{Input, open};
use axum::body::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::Metadata;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Weak};
use std::time::SystemTime;

/// Range of file sizes in bytes that are decoded here. Smaller files are fast to send as they are. Larger ones would
/// take gigabytes of memory on a machine that others use. Compressed files expand to ten or twenty times their size.
const PLAIN: std::ops::RangeInclusive<u64> = 8 << 20..=2 << 30;
const PACKED: std::ops::RangeInclusive<u64> = 8 << 20..=128 << 20;
/// Maximum total size in bytes of the cached columns, and maximum number of cached results. The files of several ranks
/// are often viewed in turn.
const MOST_KEPT: usize = 256 << 20;
const MOST_FILES: usize = 200;

/// A snapshot as gzipped columns. `None` for a file that is sent as it is: an archive of several snapshots, or a file
/// that is no snapshot, which the page reports.
type Found = Option<Bytes>;

/// The client of a connection. The reference is alive as long as the connection.
#[derive(Clone)]
pub(super) struct Peer(pub(super) Weak<()>);

impl Peer {
    /// Checks that the client is still connected.
    ///
    /// # Errors
    /// Returns `ConnectionAborted` if the client has disconnected.
    pub(super) fn waits(&self) -> io::Result<()> {
        if self.0.strong_count() > 0 { Ok(()) } else { Err(io::ErrorKind::ConnectionAborted.into()) }
    }
}

/// Identifies a version of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FileVersion {
    path: PathBuf,
    length: u64,
    changed: SystemTime,
}

impl FileVersion {
    /// Returns the version of a file, or `None` if the system does not report modification times.
    pub(super) fn of(path: &Path, metadata: &Metadata) -> Option<FileVersion> {
        Some(FileVersion { path: path.to_owned(), length: metadata.len(), changed: metadata.modified().ok()? })
    }
}

/// Decodes files and caches the results.
#[derive(Default)]
pub(super) struct Columns {
    /// Held while decoding, so that only one file is decoded at a time.
    one: Mutex<()>,
    /// Cached results, least recently used first.
    kept: Mutex<Vec<(FileVersion, Found)>>,
}

impl Columns {
    /// Returns the columns of a file, or `None` if the file should be sent as it is.
    ///
    /// # Errors
    /// Returns an error if the client has disconnected.
    pub(super) fn of(&self, state: &FileVersion, is_packed: bool, peer: &Peer) -> io::Result<Found> {
        if !(if is_packed { PACKED } else { PLAIN }).contains(&state.length) {
            return Ok(None);
        }
        if let Some(found) = self.known(state) {
            return Ok(found);
        }
        // The lock cannot be poisoned: a panic ends the program.
        let _one = self.one.lock().map_err(|_| io::ErrorKind::Other)?;
        // Another request may have decoded the same file meanwhile.
        if let Some(found) = self.known(state) {
            return Ok(found);
        }
        peer.waits()?;
        let found = decoded(state, peer).filter(|columns| (columns.len() as u64) < state.length).map(Bytes::from);
        // Decoding may have stopped early because the client disconnected.
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
        // Move the entry to the end, as the most recently used one.
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

/// A buffer whose writes fail once the client has disconnected.
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
