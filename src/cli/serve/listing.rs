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
/// Snapshots of which the page is told, and bytes of its address: browsers take more, and nobody chooses among more.
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
pub(super) struct Snapshot {
    /// Where it is.
    pub(super) path: PathBuf,
    /// For people: below the folder that was given.
    pub(super) name: String,
}

/// What there is now.
pub(super) struct Listed {
    /// `url=0/a.pickle&url=1/b.pickle`, the likeliest first; of the same kind, the newest.
    pub(super) fragment: String,
    /// So many it names.
    pub(super) count: usize,
    /// So many were left out, because of [`MOST_LISTED`] or [`LONGEST_FRAGMENT`].
    pub(super) left_out: usize,
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
    pub(super) fn now(&self) -> Listed {
        let found: Vec<Snapshot> = self.given.iter().flat_map(|path| snapshots(path)).collect();
        let mut listed = Listed { fragment: String::new(), count: 0, left_out: 0 };
        // A thread that panicked while it held this would have ended the program.
        let Ok(mut known) = self.known.lock() else { return listed };
        for snapshot in found {
            // What is left out gets no number: a folder that is written into for weeks must not fill our memory.
            if listed.count == MOST_LISTED {
                listed.left_out += 1;
                continue;
            }
            let number = known.iter().position(|it| *it == snapshot).unwrap_or(known.len());
            // Twice: the page decodes its fragment, and then has an address in which a name's `/`, `#` and `?` must mean nothing.
            let name = percent_encoded(&snapshot.name).replace('/', "%2F").replace(':', "%3A");
            let link = format!("url={number}/{}", percent_encoded(&name));
            if listed.fragment.len() + 1 + link.len() > LONGEST_FRAGMENT {
                listed.left_out += 1;
                continue;
            }
            if number == known.len() {
                known.push(snapshot);
            }
            listed.fragment.push_str(if listed.count == 0 { "" } else { "&" });
            listed.fragment.push_str(&link);
            listed.count += 1;
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
fn snapshots(given: &Path) -> Vec<Snapshot> {
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
mod tests {
    use super::*;
    use ui::link::Link;
    use ui::url;

    /// A folder of this name with nothing in it.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("memscape-listing-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn listing(folder: &Path) -> Listing {
        Listing::of(&[folder.to_owned()]).unwrap()
    }

    /// What the page makes of a fragment: the names it shows, and the paths it asks for.
    fn links(fragment: &str) -> Vec<String> {
        Link::parse(fragment).urls
    }

    #[test]
    fn odd_names_come_through_an_address_and_back() {
        let folder = folder("odd");
        let names = [
            "a b.pickle",
            "a#b?c.pickle",
            "100%25.pickle",
            "\"q\"'s</script>.pickle",
            "ä&url=x.pickle",
            "r/c:a.pickle",
        ];
        for path in names.map(|name| folder.join(name)) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"x").unwrap();
        }
        let listing = listing(&folder);
        let listed = listing.now();
        assert_eq!(listed.count, names.len());
        assert!(
            listed.fragment.bytes().all(|it| it.is_ascii_graphic() && !b"\"'<>#".contains(&it)),
            "{}",
            listed.fragment
        );
        let links = links(&listed.fragment);
        let mut found: Vec<String> = links.iter().map(|link| listing.find(link).unwrap().name).collect();
        let mut shown: Vec<String> = links.iter().map(|link| url::file_name(link)).collect();
        let mut names = names.map(str::to_owned).to_vec();
        [&mut found, &mut shown, &mut names].into_iter().for_each(|list| list.sort());
        assert_eq!((&found, &shown), (&names, &names));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn nothing_else_is_found() {
        let folder = folder("else");
        fs::write(folder.join("a.pickle"), b"x").unwrap();
        fs::write(folder.join("secret.png"), b"x").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc/passwd", folder.join("passwd.pickle")).unwrap();
        let listing = listing(&folder);
        assert_eq!(listing.now().fragment, "url=0/a.pickle");
        assert!(listing.find("0/a.pickle").is_some());
        for path in [
            "",
            "0",
            "0/",
            "1/a.pickle",
            "-1/a.pickle",
            "0/../a.pickle",
            "0/secret.png",
            "../0/a.pickle",
            "0/a.pickle/",
        ] {
            assert_eq!(listing.find(path), None, "{path}");
        }
        assert!(Listing::of(&[folder.join("none")]).is_err());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn numbers_stay_while_files_come_and_go() {
        let folder = folder("stay");
        fs::write(folder.join("b.pickle"), b"x").unwrap();
        let listing = listing(&folder);
        assert_eq!(listing.now().fragment, "url=0/b.pickle");
        fs::write(folder.join("a.pickle"), b"x").unwrap();
        let mut both = links(&listing.now().fragment);
        both.sort();
        assert_eq!(both, ["0/b.pickle", "1/a.pickle"]);
        fs::remove_file(folder.join("b.pickle")).unwrap();
        assert_eq!(listing.now().fragment, "url=1/a.pickle");
        assert_eq!(listing.find("0/b.pickle").unwrap().name, "b.pickle");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn of_a_thousand_files_the_newest_are_listed() {
        let folder = folder("many");
        let old = SystemTime::UNIX_EPOCH;
        for place in 0..1000 {
            let file = fs::File::create(folder.join(format!("snapshot-{place:0100}.pickle"))).unwrap();
            std::io::Write::write_all(&mut &file, b"x").unwrap();
            file.set_modified(old + std::time::Duration::from_secs(place)).unwrap();
        }
        let listing = listing(&folder);
        let listed = listing.now();
        assert_eq!((listed.count, listed.left_out), (MOST_LISTED, 1000 - MOST_LISTED));
        assert!(listed.fragment.len() <= LONGEST_FRAGMENT, "{}", listed.fragment.len());
        assert!(links(&listed.fragment)[0].ends_with("00999.pickle"));
        fs::remove_dir_all(folder).unwrap();
    }
}
