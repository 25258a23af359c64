//! Which snapshots `memscape serve` shows: the files it was given, and those that are in its folders by now.
//!
//! Each has a number for as long as the server runs, whatever comes and goes: a page that is open keeps fetching what it was shown.

use super::search::{ALL_ENTRIES, FEW_ENTRIES, Search, Snapshot, search};
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use ui::url::{percent_decoded, percent_encoded};

/// Maximum number of snapshots in the list of the page, and bytes of its address: browsers take more, and nobody chooses among more.
pub(super) const MAX_LISTED: usize = 200;
const MAX_FRAGMENT: usize = 32 << 10;

/// What is shown.
pub(super) struct Listing {
    /// Files and folders, as they were given.
    given: Vec<PathBuf>,
    known: Mutex<Known>,
}

/// Snapshots that have a number.
#[derive(Default)]
struct Known {
    /// By number.
    snapshots: Vec<Snapshot>,
    numbers: HashMap<Snapshot, usize>,
}

impl Known {
    fn number(&mut self, snapshot: &Snapshot) -> usize {
        if let Some(&number) = self.numbers.get(snapshot) {
            return number;
        }
        let number = self.snapshots.len();
        self.snapshots.push(snapshot.clone());
        self.numbers.insert(snapshot.clone(), number);
        number
    }
}

/// What there is now.
#[derive(Default)]
pub(super) struct Listings {
    /// `url=0/a.pickle&url=1/b.pickle`, the likeliest first; of the same kind, the newest.
    pub(super) fragment: String,
    /// Those that it names.
    pub(super) files: Vec<Listed>,
    /// Number of snapshots that were left out, because of [`MAX_LISTED`] or [`MAX_FRAGMENT`].
    pub(super) left_out: usize,
    /// Sentences on what was not searched.
    pub(super) missed: Vec<String>,
}

/// A file that is listed.
pub(super) struct Listed {
    /// As links have it: `1/b.pickle`.
    pub(super) address: String,
    pub(super) name: String,
    pub(super) path: PathBuf,
}

impl Listing {
    /// Files and folders.
    ///
    /// # Errors
    /// One of them is not there, or is neither: one sentence.
    pub(super) fn of(paths: &[PathBuf]) -> Result<Listing, String> {
        for path in paths {
            let shown = path.display();
            let metadata = fs::metadata(path).map_err(|error| format!("{shown}: {error}"))?;
            if !metadata.is_dir() && !metadata.is_file() {
                return Err(format!("{shown} is neither a file nor a folder"));
            }
            if metadata.is_dir() {
                fs::read_dir(path).map_err(|error| format!("{shown}: {error}"))?;
            }
        }
        Ok(Listing { given: paths.to_vec(), known: Mutex::default() })
    }

    /// Searches for the snapshots that there are now: those of the page's list.
    pub(super) fn now(&self) -> Listings {
        let Search { snapshots, missed } = search(&self.given, FEW_ENTRIES);
        let mut listed = Listings { missed, ..Listings::default() };
        // A thread that panicked while it held this would have ended the program.
        let Ok(mut known) = self.known.lock() else { return listed };
        for snapshot in snapshots {
            // What is left out gets no number: a folder that is written into for weeks must not fill our memory.
            if listed.files.len() == MAX_LISTED {
                listed.left_out += 1;
                continue;
            }
            let number = known.numbers.get(&snapshot).copied().unwrap_or(known.snapshots.len());
            let encoded = encoded(&snapshot.name);
            let link = format!("url={number}/{}", percent_encoded(&encoded));
            if listed.fragment.len() + 1 + link.len() > MAX_FRAGMENT {
                listed.left_out += 1;
                continue;
            }
            listed.fragment.push_str(if listed.files.is_empty() { "" } else { "&" });
            listed.fragment.push_str(&link);
            let number = known.number(&snapshot);
            let Snapshot { path, name } = snapshot;
            listed.files.push(Listed { address: format!("{number}/{encoded}"), name, path });
        }
        listed
    }

    /// All snapshots that there are now, an address a line, for a survey. Lines on what was not searched begin with `! `.
    pub(super) fn all(&self) -> String {
        let Search { snapshots, missed } = search(&self.given, ALL_ENTRIES);
        let mut text: String = missed.iter().map(|sentence| format!("! {sentence}\n")).collect();
        let Ok(mut known) = self.known.lock() else { return text };
        for snapshot in &snapshots {
            text += &format!("{}/{}\n", known.number(snapshot), encoded(&snapshot.name));
        }
        text
    }

    /// The snapshot that this path of an address names: `3/rank1%2Fa.pickle`.
    pub(super) fn find(&self, path: &str) -> Option<Snapshot> {
        let (number, name) = path.split_once('/')?;
        let number: usize = number.parse().ok()?;
        let known = self.known.lock().ok()?;
        known.snapshots.get(number).filter(|snapshot| snapshot.name == percent_decoded(name)).cloned()
    }
}

/// A name as one part of an address. In a fragment it is encoded once more: the page decodes that, and then has an address in which a
/// name's `/`, `#` and `?` must mean nothing.
fn encoded(name: &str) -> String {
    percent_encoded(name).replace('/', "%2F").replace(':', "%3A")
}

#[cfg(test)]
#[path = "../../../tests/units/cli/serve/listing.rs"]
mod tests;
