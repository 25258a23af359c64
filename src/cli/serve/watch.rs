//! Server-sent events about changes of the served files, for open pages.
//!
//! An event lists the newest files, one per line: `RANK VERSION AGE ADDRESS`. RANK is `-` for a file without a rank,
//! AGE is in milliseconds, and ADDRESS is the one in links. The first line, `files COUNT`, has the number of all
//! snapshots. It also keeps browsers from dropping an event without files.
//!
//! Folders are polled, which works on every file system. Polling takes at most a twentieth of the time, regardless of
//! the number of open pages.

use super::listing::{Listed, Listing};
use super::sending::tag;
use axum::response::sse::{Event, Sse};
use compare::ranks::named;
use futures_util::stream::{Stream, unfold};
use std::collections::HashMap;
use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};
use tokio::task::spawn_blocking;

/// Minimum time between two scans, and minimum ratio of that time to the duration of a scan.
const PAUSE: Duration = Duration::from_secs(1);
const PARTS: u32 = 20;
/// Time without changes after which a file is considered completely written.
const STILL: Duration = Duration::from_secs(2);
/// Interval of keep-alive comments, which reveal that a client has disconnected.
const WORD: Duration = Duration::from_secs(15);

/// Result of the last scan, shared by all clients.
#[derive(Default)]
pub(super) struct Watch(Mutex<Option<Look>>);

struct Look {
    ended: Instant,
    took: Duration,
    /// Versions by address.
    versions: HashMap<String, Version>,
    files: Arc<Files>,
}

#[derive(Clone, Default)]
struct Version {
    latest: String,
    whole: Option<(String, SystemTime)>,
}

/// Contents of an event.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Files {
    /// Number of all snapshots, including those that are not listed or still being written.
    count: usize,
    seen: Vec<Seen>,
}

/// A completely written file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    rank: Option<u32>,
    version: String,
    changed: SystemTime,
    address: String,
}

impl Watch {
    /// Returns the current files. Scans the folders unless the last scan is recent.
    pub(super) fn files(&self, listing: &Listing) -> Arc<Files> {
        // The lock cannot be poisoned: a panic ends the program.
        let Ok(mut last) = self.0.lock() else { return Arc::default() };
        if let Some(look) = last.as_ref().filter(|look| look.ended.elapsed() < PAUSE.max(look.took * PARTS)) {
            return Arc::clone(&look.files);
        }
        let begun = Instant::now();
        let before = last.take().map(|look| look.versions).unwrap_or_default();
        let listed = listing.now();
        let versions: HashMap<String, Version> = listed.files.iter().map(|file| looked_at(file, &before)).collect();
        let names: Vec<&str> = listed.files.iter().map(|file| file.name.as_str()).collect();
        let seen = |(file, named): (&Listed, compare::ranks::Named)| {
            let (version, changed) = versions.get(&file.address)?.whole.clone()?;
            Some(Seen { rank: named.rank, version, changed, address: file.address.clone() })
        };
        let seen = listed.files.iter().zip(named(&names)).filter_map(seen).collect();
        let files = Arc::new(Files { count: listed.files.len() + listed.left_out, seen });
        let look = Look { ended: Instant::now(), took: begun.elapsed(), versions, files: Arc::clone(&files) };
        last.replace(look);
        files
    }
}

/// Returns the address and the updated version of a file. A new version counts once the file is completely written.
fn looked_at(file: &Listed, before: &HashMap<String, Version>) -> (String, Version) {
    let mut version = before.get(&file.address).cloned().unwrap_or_default();
    let now = fs::metadata(&file.path).ok().and_then(|it| Some((tag(&it)?, it.modified().ok()?)));
    if let Some((latest, changed)) = now {
        let is_known = version.whole.as_ref().is_some_and(|(whole, _)| *whole == latest);
        let is_still = version.latest == latest || changed.elapsed().is_ok_and(|age| age >= STILL);
        if !is_known && is_still && is_whole(&file.path).unwrap_or(false) {
            version.whole = Some((latest.clone(), changed));
        }
        version.latest = latest;
    }
    (file.address.clone(), version)
}

/// Returns true if a file is complete. A pickle is complete if it ends with the STOP opcode, since PyTorch writes it in
/// pieces with pauses. Other files always count as complete.
fn is_whole(path: &Path) -> io::Result<bool> {
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

/// Streams the files: once immediately, and again after every change.
pub(super) fn changes<F>(look: F) -> Sse<impl Stream<Item = Result<Event, Infallible>>>
where
    F: Fn() -> Arc<Files> + Clone + Send + 'static,
{
    let begin = (look, None::<Arc<Files>>, Instant::now());
    Sse::new(unfold(begin, async |(look, last, mut sent)| {
        loop {
            let files = spawn_blocking(look.clone()).await.ok()?;
            if last.as_ref() != Some(&files) {
                let event = Event::default().data(lines(&files));
                return Some((Ok(event), (look, Some(files), Instant::now())));
            }
            if sent.elapsed() >= WORD {
                sent = Instant::now();
                return Some((Ok(Event::default().comment("")), (look, last, sent)));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }))
}

fn lines(files: &Files) -> String {
    let line = |file: &Seen| {
        let rank = file.rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string());
        let age = file.changed.elapsed().unwrap_or_default().as_millis();
        let version = file.version.trim_matches('"');
        format!("{rank} {version} {age} {}", file.address)
    };
    std::iter::once(format!("files {}", files.count)).chain(files.seen.iter().map(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
#[path = "../../../tests/units/cli/serve/watch.rs"]
mod tests;
