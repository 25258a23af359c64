//! What changes among the served files, for a page that is open: server-sent events, as long as it listens.
//!
//! An event lists the newest files, a line each: `RANK VERSION AGE ADDRESS`, where a file without a rank has `-`, the age is in milliseconds
//! and the address is the one in links. The line `files COUNT` before them has the number of all snapshots; it also keeps browsers from
//! dropping an event without files. Folders are looked through again and again, which works on every file system; that takes a
//! twentieth of the time at most, however many pages listen.

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

/// The time between two looks, and how much of it a look may take at most: one part of so many.
const PAUSE: Duration = Duration::from_secs(1);
const PARTS: u32 = 20;
/// A file that did not change for so long is written to the end, by whoever writes it.
const STILL: Duration = Duration::from_secs(2);
/// A word every so often: a page that has gone is noticed when it is written to.
const WORD: Duration = Duration::from_secs(15);

/// What was seen last.
#[derive(Default)]
pub(super) struct Watch(Mutex<Option<Look>>);

struct Look {
    ended: Instant,
    took: Duration,
    /// By address: what was there, and what was there and whole.
    versions: HashMap<String, Version>,
    files: Arc<Files>,
}

#[derive(Clone, Default)]
struct Version {
    latest: String,
    whole: Option<(String, SystemTime)>,
}

/// The files of an event.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Files {
    /// Number of all snapshots, also of those that are not listed or not written to their end.
    count: usize,
    seen: Vec<Seen>,
}

/// A file that can be read to its end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    rank: Option<u32>,
    version: String,
    changed: SystemTime,
    address: String,
}

impl Watch {
    /// The files there are now, or were a moment ago.
    pub(super) fn files(&self, listing: &Listing) -> Arc<Files> {
        // A thread that panicked while it held this would have ended the program.
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

/// What is known of a file by what was known before: its version counts once it is whole.
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

/// Whether a pickle has its end: PyTorch writes one bit by bit, with pauses in between. Of other files there is nothing to see.
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

/// All files now, and again whenever one of them is another.
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
