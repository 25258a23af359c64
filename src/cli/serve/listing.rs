//! Which snapshots `memscape serve` shows: the files it was given, and those that are in its folders by now.
//!
//! Each has a number for as long as the server runs, whatever comes and goes: a page that is open keeps fetching what it was shown.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;
use ui::effect::GivenFile;
use ui::snapshots_among;
use ui::url::{percent_decoded, percent_encoded};

/// Folders below a folder that are looked into.
const DEEPEST: usize = 8;
/// What is looked at in a folder at most, files and folders: a home folder on a shared disk takes minutes otherwise.
const MOST_ENTRIES: usize = 20_000;
/// Snapshots that the page lists, and bytes of its address: browsers take more, and nobody chooses among more.
pub(super) const MOST_LISTED: usize = 200;
const LONGEST_FRAGMENT: usize = 32 << 10;

/// What is shown.
pub(super) struct Listing {
    /// Files and folders, as they were given.
    given: Vec<PathBuf>,
    /// All that ever was shown; their places are their numbers.
    known: Mutex<Vec<Snapshot>>,
}

/// A file that may be a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Snapshot {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// For people: below the folder that was given.
    pub(crate) name: String,
}

/// What there is now.
pub(super) struct Listings {
    /// `url=0/a.pickle&url=1/b.pickle`, the likeliest first; of the same kind, the newest.
    pub(super) fragment: String,
    /// Those that it names.
    pub(super) files: Vec<Listed>,
    /// So many were left out, because of [`MOST_LISTED`] or [`LONGEST_FRAGMENT`].
    pub(super) left_out: usize,
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

    /// Looks what there is now.
    pub(super) fn now(&self) -> Listings {
        let found: Vec<Snapshot> = self.given.iter().flat_map(|path| snapshots(path)).collect();
        let mut listed = Listings { fragment: String::new(), files: Vec::new(), left_out: 0 };
        // A thread that panicked while it held this would have ended the program.
        let Ok(mut known) = self.known.lock() else { return listed };
        for snapshot in found {
            // What is left out gets no number: a folder that is written into for weeks must not fill our memory.
            if listed.files.len() == MOST_LISTED {
                listed.left_out += 1;
                continue;
            }
            let number = known.iter().position(|it| *it == snapshot).unwrap_or(known.len());
            // Twice: the page decodes its fragment, and then has an address in which a name's `/`, `#` and `?` must mean nothing.
            let encoded = percent_encoded(&snapshot.name).replace('/', "%2F").replace(':', "%3A");
            let link = format!("url={number}/{}", percent_encoded(&encoded));
            if listed.fragment.len() + 1 + link.len() > LONGEST_FRAGMENT {
                listed.left_out += 1;
                continue;
            }
            listed.fragment.push_str(if listed.files.is_empty() { "" } else { "&" });
            listed.fragment.push_str(&link);
            let (path, name) = (snapshot.path.clone(), snapshot.name.clone());
            listed.files.push(Listed { address: format!("{number}/{encoded}"), name, path });
            if number == known.len() {
                known.push(snapshot);
            }
        }
        listed
    }

    /// The snapshot that this path of an address names: `3/rank1%2Fa.pickle`.
    pub(super) fn find(&self, path: &str) -> Option<Snapshot> {
        let (number, name) = path.split_once('/')?;
        let number: usize = number.parse().ok()?;
        let known = self.known.lock().ok()?;
        known.get(number).filter(|snapshot| snapshot.name == percent_decoded(name)).cloned()
    }
}

/// A file itself, or what in a folder may be a snapshot.
pub(crate) fn snapshots(given: &Path) -> Vec<Snapshot> {
    let shown = |path: &Path| path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    let Ok(metadata) = fs::metadata(given) else { return Vec::new() };
    if !metadata.is_dir() {
        let name = given.file_name().map(Path::new).map(shown).unwrap_or_default();
        return vec![Snapshot { path: given.to_owned(), name }];
    }
    let mut files = Vec::new();
    files_in(given, DEEPEST, &mut MOST_ENTRIES.clone(), &mut files);
    files.sort_by(|one, other| other.changed.cmp(&one.changed).then_with(|| one.path.cmp(&other.path)));
    let mut found: Vec<GivenFile> =
        files.iter().map(|file| GivenFile { name: shown(&file.path), bytes: file.bytes }).collect();
    // One that is alone would be taken whatever it is called, which is right for a file that somebody chose.
    found.push(GivenFile { name: String::new(), bytes: 0 });
    let below = |path: &Path| shown(path.strip_prefix(given).unwrap_or(path));
    let places = snapshots_among(found).into_iter().filter_map(|place| files.get(place));
    places.map(|file| Snapshot { path: file.path.clone(), name: below(&file.path) }).collect()
}

struct Found {
    path: PathBuf,
    bytes: u64,
    changed: Option<SystemTime>,
}

/// Links are not followed: in a folder that others may write to they could lead anywhere, or round in a circle.
fn files_in(folder: &Path, deeper: usize, entries: &mut usize, files: &mut Vec<Found>) {
    // What can't be read is not there.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Some(left) = entries.checked_sub(1) else { return };
        *entries = left;
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && deeper > 0 && !entry.file_name().to_string_lossy().starts_with('.') {
            files_in(&entry.path(), deeper - 1, entries, files);
        } else if kind.is_file()
            && let Ok(metadata) = entry.metadata()
        {
            files.push(Found { path: entry.path(), bytes: metadata.len(), changed: metadata.modified().ok() });
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/units/cli/serve/listing.rs"]
mod tests;
