//! Server-sent events about changes of the served files, for open pages.
//!
//! An event lists the newest files, one per line: `RANK VERSION AGE ADDRESS`. RANK is `-` for a file without a rank,
//! AGE is in milliseconds, and ADDRESS is the path used in links. The first line, `files COUNT`, contains the number of
//! all snapshots. Browsers would drop an event without any line.
//!
//! Folders are polled, which works on every file system. At most 5 % of the time is spent on polling, regardless of the
//! number of open pages.

use super::listing::{Listed, Listing};
use super::snapshot_response::etag;
use axum::response::sse::{Event, Sse};
use compare::ranks::parse_names;
use futures_util::stream::{Stream, unfold};
use std::collections::HashMap;
use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};
use tokio::task::spawn_blocking;

/// Minimum time between two scans of the folders.
const SCAN_INTERVAL: Duration = Duration::from_secs(1);
/// Minimum ratio between the time from one scan to the next and the duration of a scan.
const IDLE_RATIO: u32 = 20;
/// Time without changes after which a file is considered complete.
const STABLE_AGE: Duration = Duration::from_secs(2);
/// Interval between keep-alive comments. Sending one fails if the client has disconnected.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Result of the last scan, shared by all clients.
#[derive(Default)]
pub(super) struct Watch(Mutex<Option<Scan>>);

struct Scan {
    ended: Instant,
    duration: Duration,
    /// Version of each file, keyed by its address.
    versions: HashMap<String, Version>,
    files: Arc<Files>,
}

#[derive(Clone, Default)]
struct Version {
    latest: String,
    complete: Option<(String, SystemTime)>,
}

/// Contents of a server-sent event: the completely written files, and the total number of snapshots.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Files {
    /// Total number of snapshots, including those that are not listed or not completely written.
    count: usize,
    complete: Vec<CompleteFile>,
}

/// A file that is completely written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CompleteFile {
    rank: Option<u32>,
    version: String,
    changed: SystemTime,
    address: String,
}

impl Watch {
    /// Returns the current files. Scans the folders unless the last scan was recent.
    pub(super) fn files(&self, listing: &Listing) -> Arc<Files> {
        // The lock cannot be poisoned: a panic ends the program.
        let Ok(mut last) = self.0.lock() else { return Arc::default() };
        if let Some(scan) =
            last.as_ref().filter(|scan| scan.ended.elapsed() < SCAN_INTERVAL.max(scan.duration * IDLE_RATIO))
        {
            return Arc::clone(&scan.files);
        }
        let scan_started = Instant::now();
        let before = last.take().map(|scan| scan.versions).unwrap_or_default();
        let listed = listing.current();
        let versions: HashMap<String, Version> =
            listed.files.iter().map(|file| update_version(file, &before)).collect();
        let names: Vec<&str> = listed.files.iter().map(|file| file.name.as_str()).collect();
        let seen = |(file, named): (&Listed, compare::ranks::ParsedName)| {
            let (version, changed) = versions.get(&file.address)?.complete.clone()?;
            Some(CompleteFile { rank: named.rank, version, changed, address: file.address.clone() })
        };
        let complete = listed.files.iter().zip(parse_names(&names)).filter_map(seen).collect();
        let files = Arc::new(Files { count: listed.files.len() + listed.left_out, complete });
        let scan =
            Scan { ended: Instant::now(), duration: scan_started.elapsed(), versions, files: Arc::clone(&files) };
        last.replace(scan);
        files
    }
}

/// Returns the address of a file and its version. The version changes only once the modified file is complete.
fn update_version(file: &Listed, before: &HashMap<String, Version>) -> (String, Version) {
    let mut version = before.get(&file.address).cloned().unwrap_or_default();
    let now = fs::metadata(&file.path).ok().and_then(|it| Some((etag(&it)?, it.modified().ok()?)));
    if let Some((latest, changed)) = now {
        let is_known = version.complete.as_ref().is_some_and(|(whole, _)| *whole == latest);
        let is_still = version.latest == latest || changed.elapsed().is_ok_and(|age| age >= STABLE_AGE);
        if !is_known && is_still && is_complete(&file.path).unwrap_or(false) {
            version.complete = Some((latest.clone(), changed));
        }
        version.latest = latest;
    }
    (file.address.clone(), version)
}

/// Returns true if a file is complete. A pickle must end with the STOP opcode, because PyTorch writes it in several
/// steps with pauses. All other files are considered complete unless they are empty.
fn is_complete(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let mut byte = [0];
    if file.read(&mut byte)? == 0 {
        return Ok(false);
    }
    if byte != [0x80] {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut byte)?;
    Ok(byte == *b".")
}

/// Streams the files that `scan` returns: immediately, and after every change.
pub(super) fn changes<F>(scan: F) -> Sse<impl Stream<Item = Result<Event, Infallible>>>
where
    F: Fn() -> Arc<Files> + Clone + Send + 'static,
{
    let begin = (scan, None::<Arc<Files>>, Instant::now());
    Sse::new(unfold(begin, async |(scan, last, mut sent)| {
        loop {
            let files = spawn_blocking(scan.clone()).await.ok()?;
            if last.as_ref() != Some(&files) {
                let event = Event::default().data(event_lines(&files));
                return Some((Ok(event), (scan, Some(files), Instant::now())));
            }
            if sent.elapsed() >= KEEP_ALIVE_INTERVAL {
                sent = Instant::now();
                return Some((Ok(Event::default().comment("")), (scan, last, sent)));
            }
            tokio::time::sleep(SCAN_INTERVAL).await;
        }
    }))
}

fn event_lines(files: &Files) -> String {
    let line = |file: &CompleteFile| {
        let rank = file.rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string());
        let age = file.changed.elapsed().unwrap_or_default().as_millis();
        let version = file.version.trim_matches('"');
        format!("{rank} {version} {age} {}", file.address)
    };
    std::iter::once(format!("files {}", files.count))
        .chain(files.complete.iter().map(line))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
#[path = "../../../tests/units/cli/serve/watch.rs"]
mod tests;
