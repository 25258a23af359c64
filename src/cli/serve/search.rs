//! Searches files and folders for snapshots.

use base::units::{group_digits, pluralize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use ui::snapshot_indices;
use ui::state::effect::GivenFile;

/// Maximum depth of nested folders.
const MAX_DEPTH: usize = 8;
/// Maximum number of files and folders visited by a search that is repeated or that a user waits for. Without this
/// limit, searching a home folder on a network disk would take minutes.
pub(crate) const FEW_ENTRIES: usize = 20_000;
/// Maximum number of files and folders visited by a search for the snapshots of all ranks.
pub(crate) const ALL_ENTRIES: usize = 2_000_000;

/// A file that may be a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Snapshot {
    pub(crate) path: PathBuf,
    /// Name for display: the path relative to the given folder.
    pub(crate) name: String,
}

/// Result of a search for snapshots.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Search {
    /// The given files in their order, then files found in folders, sorted by how likely each is a snapshot, then
    /// newest first.
    pub(crate) snapshots: Vec<Snapshot>,
    /// One sentence for each reason why entries were not searched.
    pub(crate) not_searched: Vec<String>,
}

/// Searches files and folders for snapshots. Visits at most `entries` files and folders. Skips paths that do not exist.
pub(crate) fn search<P: AsRef<Path>>(given: &[P], entries: usize) -> Search {
    let (mut snapshots, mut walk) = (Vec::new(), Walk { entries_left: entries, ..Walk::default() });
    for given in given.iter().map(AsRef::as_ref) {
        match fs::metadata(given) {
            Ok(metadata) if metadata.is_dir() => walk.visit(given, given, MAX_DEPTH),
            Ok(_) => {
                let name = given.file_name().map(Path::new).map(display_name).unwrap_or_default();
                snapshots.push(Snapshot { path: given.to_owned(), name });
            }
            Err(_) => {}
        }
    }
    let not_searched = walk.not_searched(entries);
    snapshots.extend(sort_by_likelihood(walk.files));
    Search { snapshots, not_searched }
}

/// Searches one path, limited to [`FEW_ENTRIES`]. Does not report what was not searched.
pub(crate) fn snapshots(given: &Path) -> Vec<Snapshot> {
    search(&[given], FEW_ENTRIES).snapshots
}

fn sort_by_likelihood(mut files: Vec<FoundFile>) -> Vec<Snapshot> {
    files.sort_by(|a, b| b.changed.cmp(&a.changed).then_with(|| a.path.cmp(&b.path)));
    let mut found: Vec<GivenFile> =
        files.iter().map(|file| GivenFile { name: display_name(&file.path), bytes: file.bytes }).collect();
    // A single file would be accepted with any name, which is only right if the user chose it. Add a dummy file.
    found.push(GivenFile { name: String::new(), bytes: 0 });
    let places = snapshot_indices(found).into_iter().filter_map(|place| files.get(place));
    places.map(|file| Snapshot { path: file.path.clone(), name: file.name.clone() }).collect()
}

fn display_name(path: &Path) -> String {
    path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}

struct FoundFile {
    path: PathBuf,
    name: String,
    bytes: u64,
    changed: Option<SystemTime>,
}

/// State of a recursive search. Symbolic links are not followed, because they could lead anywhere or form a cycle.
#[derive(Default)]
struct Walk {
    files: Vec<FoundFile>,
    /// Number of files and folders that may still be visited.
    entries_left: usize,
    is_truncated: bool,
    deeper: u64,
    links: u64,
    unreadable: u64,
    /// Error message for the first folder that cannot be read.
    first_unreadable: Option<String>,
}

impl Walk {
    fn visit(&mut self, given: &Path, folder: &Path, depth: usize) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                self.unreadable += 1;
                self.first_unreadable.get_or_insert_with(|| format!("{}: {error}", folder.display()));
                return;
            }
        };
        for entry in entries.flatten() {
            let Some(left) = self.entries_left.checked_sub(1) else {
                self.is_truncated = true;
                return;
            };
            self.entries_left = left;
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            let name = display_name(path.strip_prefix(given).unwrap_or(&path));
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if kind.is_dir() {
                match depth.checked_sub(1) {
                    Some(depth) => self.visit(given, &path, depth),
                    None => self.deeper += 1,
                }
            } else if kind.is_symlink() {
                self.links +=
                    u64::from(!sort_by_likelihood(vec![FoundFile { path, name, bytes: 1, changed: None }]).is_empty());
            } else if kind.is_file()
                && let Ok(metadata) = entry.metadata()
            {
                self.files.push(FoundFile { path, name, bytes: metadata.len(), changed: metadata.modified().ok() });
            }
        }
    }

    fn not_searched(&self, entries: usize) -> Vec<String> {
        let some = |count: u64, sentence: String| (count > 0).then_some(sentence);
        let cut = format!("Only the first {} files and folders were searched.", group_digits(entries as u64));
        let deeper = format!("{} more than {MAX_DEPTH} levels deep not searched.", pluralize(self.deeper, "folder"));
        let links = format!("{} not followed.", pluralize(self.links, "link"));
        let first = self.first_unreadable.as_deref().unwrap_or_default();
        let unreadable = format!("{} not readable ({first}).", pluralize(self.unreadable, "folder"));
        [
            some(self.is_truncated.into(), cut),
            some(self.deeper, deeper),
            some(self.links, links),
            some(self.unreadable, unreadable),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

#[cfg(test)]
#[path = "../../../tests/units/cli/serve/search.rs"]
mod tests;
