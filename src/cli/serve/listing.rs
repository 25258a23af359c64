//! The list of served snapshots: the given files, and the current contents of the given folders.
//!
//! Each snapshot keeps its number while the server runs, so that links in open pages stay valid.

use super::search::{ALL_ENTRIES, FEW_ENTRIES, Search, Snapshot, search};
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use ui::text::url::{percent_decoded, percent_encoded};

/// Content type of the list of all snapshots. The page checks it, because a different server may respond at the same
/// address.
pub(super) const LISTING_TYPE: &str = "application/x-memscape-listing";
/// Maximum number of snapshots listed in the page. Users cannot work with longer lists.
pub(super) const MAX_LISTED: usize = 200;
/// Maximum length of the address fragment that lists the snapshots, in bytes. Browsers accept more.
const MAX_FRAGMENT: usize = 32 << 10;

/// Files and folders to serve.
pub(super) struct Listing {
    /// Files and folders, as given by the user.
    paths: Vec<PathBuf>,
    known: Mutex<NumberedSnapshots>,
}

/// All snapshots listed so far, each with a number that never changes.
#[derive(Default)]
struct NumberedSnapshots {
    /// Snapshots. The index is the number.
    snapshots: Vec<Snapshot>,
    numbers: HashMap<Snapshot, usize>,
}

impl NumberedSnapshots {
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

/// Snapshots found by the latest search.
#[derive(Default)]
pub(super) struct CurrentListing {
    /// Address fragment such as `url=0/a.pickle&url=1/b.pickle`. Sorted by how likely each file is a snapshot, then
    /// newest first.
    pub(super) fragment: String,
    /// Files named in `fragment`, in the same order.
    pub(super) files: Vec<Listed>,
    /// Number of snapshots omitted because of [`MAX_LISTED`] or [`MAX_FRAGMENT`].
    pub(super) left_out: usize,
    /// One sentence for each reason why entries were not searched.
    pub(super) not_searched: Vec<String>,
}

/// An entry of the list of snapshots.
pub(super) struct Listed {
    /// Path used in links, such as `1/b.pickle`.
    pub(super) address: String,
    pub(super) name: String,
    pub(super) path: PathBuf,
}

impl Listing {
    /// Creates the list for files and folders.
    ///
    /// # Errors
    /// Returns an error message if a path does not exist, cannot be read, or is neither a file nor a folder.
    pub(super) fn new(paths: &[PathBuf]) -> Result<Listing, String> {
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
        Ok(Listing { paths: paths.to_vec(), known: Mutex::default() })
    }

    /// Searches the folders and returns the snapshots to list in the page.
    pub(super) fn current(&self) -> CurrentListing {
        let Search { snapshots, not_searched } = search(&self.paths, FEW_ENTRIES);
        let mut listed = CurrentListing { not_searched, ..CurrentListing::default() };
        // The lock cannot be poisoned: a panic ends the program.
        let Ok(mut known) = self.known.lock() else { return listed };
        for snapshot in snapshots {
            // Snapshots that are left out get no number, so that a folder with many new files does not fill the memory.
            if listed.files.len() == MAX_LISTED {
                listed.left_out += 1;
                continue;
            }
            let number = known.numbers.get(&snapshot).copied().unwrap_or(known.snapshots.len());
            let encoded = encode_name(&snapshot.name);
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

    /// Returns the addresses of all current snapshots, one per line, for the comparison of ranks. Lines that begin with
    /// `! ` describe what was not searched.
    pub(super) fn all_addresses(&self) -> String {
        let Search { snapshots, not_searched } = search(&self.paths, ALL_ENTRIES);
        let mut text: String = not_searched.iter().map(|sentence| format!("! {sentence}\n")).collect();
        let Ok(mut known) = self.known.lock() else { return text };
        for snapshot in &snapshots {
            text += &format!("{}/{}\n", known.number(snapshot), encode_name(&snapshot.name));
        }
        text
    }

    /// Returns the snapshot at a path such as `3/rank1%2Fa.pickle`.
    pub(super) fn find(&self, path: &str) -> Option<Snapshot> {
        let (number, name) = path.split_once('/')?;
        let number: usize = number.parse().ok()?;
        let known = self.known.lock().ok()?;
        known.snapshots.get(number).filter(|snapshot| snapshot.name == percent_decoded(name)).cloned()
    }
}

/// Encodes a file name as one path segment. The result is encoded again in the address fragment: after the page decodes
/// the fragment, `/`, `#` and `?` in a name must still be escaped.
fn encode_name(name: &str) -> String {
    percent_encoded(name).replace('/', "%2F").replace(':', "%3A")
}

#[cfg(test)]
#[path = "../../../tests/units/cli/serve/listing.rs"]
mod tests;
