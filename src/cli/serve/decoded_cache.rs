//! Snapshots that the server decodes and sends to the page as columns, a format that is a sixth of the size of the
//! gzipped file and faster to open.
//!
//! At 20 MB/s this is faster (tests/bench/serve.rs), although sending starts only after decoding. Results are cached,
//! because pages are reloaded.

use super::{Input, open};
use axum::body::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::Metadata;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Weak};
use std::time::SystemTime;

/// Minimum and maximum size in bytes of uncompressed files that the server decodes. Smaller files are sent quickly as
/// they are. Larger files would need gigabytes of memory on a machine that is shared with others.
const PLAIN_SIZES: std::ops::RangeInclusive<u64> = 8 << 20..=2 << 30;
/// Minimum and maximum size in bytes of compressed files that the server decodes. Their contents are ten to twenty
/// times as large.
const PACKED_SIZES: std::ops::RangeInclusive<u64> = 8 << 20..=128 << 20;
/// Maximum total size of the cached columns in bytes.
const MAX_KEPT: usize = 256 << 20;
/// Maximum number of cached results. The files of several ranks are often viewed in turn.
const MAX_FILES: usize = 200;

/// A snapshot as gzipped columns. `None` for a file that is sent unchanged: an archive with several snapshots, or a
/// file that is not a snapshot, for which the page shows an error.
type DecodedSnapshot = Option<Bytes>;

/// Client of a connection. The weak reference can be upgraded as long as the connection is open.
#[derive(Clone)]
pub(super) struct Peer(pub(super) Weak<()>);

impl Peer {
    /// Checks that the client is still connected.
    ///
    /// # Errors
    /// Returns `ConnectionAborted` if the client has disconnected.
    pub(super) fn check_connected(&self) -> io::Result<()> {
        if self.0.strong_count() > 0 { Ok(()) } else { Err(io::ErrorKind::ConnectionAborted.into()) }
    }
}

/// Path, length and modification time of a file, which identify a version of its contents.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FileVersion {
    path: PathBuf,
    length: u64,
    changed: SystemTime,
}

impl FileVersion {
    /// Returns the version of a file, or `None` if the system does not report modification times.
    pub(super) fn from_metadata(path: &Path, metadata: &Metadata) -> Option<FileVersion> {
        Some(FileVersion { path: path.to_owned(), length: metadata.len(), changed: metadata.modified().ok()? })
    }
}

/// Cache of decoded files, which decodes files that it does not contain.
#[derive(Default)]
pub(super) struct DecodedCache {
    /// Held while decoding, so that only one file is decoded at a time.
    decode_lock: Mutex<()>,
    /// Cached results, least recently used first.
    cached: Mutex<Vec<(FileVersion, DecodedSnapshot)>>,
}

impl DecodedCache {
    /// Returns the columns of a file, decoding it if necessary. Returns `None` if the file should be sent unchanged.
    ///
    /// # Errors
    /// Returns an error if the client has disconnected.
    pub(super) fn get(&self, state: &FileVersion, is_packed: bool, peer: &Peer) -> io::Result<DecodedSnapshot> {
        if !(if is_packed { PACKED_SIZES } else { PLAIN_SIZES }).contains(&state.length) {
            return Ok(None);
        }
        if let Some(found) = self.lookup(state) {
            return Ok(found);
        }
        // The lock cannot be poisoned: a panic ends the program.
        let _one = self.decode_lock.lock().map_err(|_| io::ErrorKind::Other)?;
        // Another request may have decoded the same file meanwhile.
        if let Some(found) = self.lookup(state) {
            return Ok(found);
        }
        peer.check_connected()?;
        let found = decode(state, peer).filter(|columns| (columns.len() as u64) < state.length).map(Bytes::from);
        // Decoding may have stopped early because the client disconnected.
        peer.check_connected()?;
        let is_same = |now: Metadata| FileVersion::from_metadata(&state.path, &now).as_ref() == Some(state);
        if std::fs::metadata(&state.path).is_ok_and(is_same) {
            self.insert(state.clone(), found.clone());
        }
        Ok(found)
    }

    fn lookup(&self, state: &FileVersion) -> Option<DecodedSnapshot> {
        let mut cached = self.cached.lock().ok()?;
        let index = cached.iter().position(|(version, _)| version == state)?;
        // Move the entry to the end, as the most recently used one.
        let found = cached.remove(index);
        cached.push(found.clone());
        Some(found.1)
    }

    fn insert(&self, state: FileVersion, found: DecodedSnapshot) {
        let Ok(mut cached) = self.cached.lock() else { return };
        cached.retain(|(version, _)| version.path != state.path);
        cached.push((state, found));
        let bytes = |(_, found): &(FileVersion, DecodedSnapshot)| found.as_ref().map_or(0, |columns| columns.len());
        while cached.len() > MAX_FILES || cached.iter().map(bytes).sum::<usize>() > MAX_KEPT {
            cached.remove(0);
        }
    }
}

fn decode(state: &FileVersion, peer: &Peer) -> Option<Vec<u8>> {
    let mut input = Input::open(&state.path).ok()?;
    let connected_peer = peer.clone();
    input.set_before_chunk(Box::new(move || connected_peer.check_connected()));
    let mut members = Vec::new();
    let (_, engine) = open(&mut input, "", None, &mut members).ok()?;
    if members.len() > 1 {
        return None;
    }
    let out = PeerBuffer { bytes: Vec::new(), peer };
    let gzip = engine.write_columns(GzEncoder::new(out, Compression::fast())).ok()?;
    gzip.finish().ok().map(|out| out.bytes)
}

/// A buffer whose writes fail once the client has disconnected.
struct PeerBuffer<'a> {
    bytes: Vec<u8>,
    peer: &'a Peer,
}

impl Write for PeerBuffer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.peer.check_connected()?;
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../../tests/units/cli/serve/columns.rs"]
mod tests;
