//! Entries of the cache: atomic writes and eviction.

use super::*;
use std::io::Read;

/// Returns an empty cache folder with a limit of `most` bytes.
fn shelf(name: &str, max_bytes: u64) -> CacheFolder {
    let folder = std::env::temp_dir().join(format!("memscape-shelf-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    CacheFolder { path: folder, max_bytes }
}

fn put(shelf: &CacheFolder, key: &str, bytes: usize) -> io::Result<()> {
    shelf.insert(key, |out| out.write_all(&vec![7; bytes]))
}

fn taken(shelf: &CacheFolder, key: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    shelf.open(key)?.read_to_end(&mut bytes).unwrap();
    Some(bytes)
}

/// Returns the sorted file names in the cache folder.
fn names(shelf: &CacheFolder) -> Vec<String> {
    let entries = fs::read_dir(&shelf.path).into_iter().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn used(shelf: &CacheFolder, key: &str, seconds_ago: u64) {
    let file = File::options().write(true).open(shelf.entry_path(key)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds_ago)).unwrap();
}

#[test]
fn entry_is_readable_until_removed() {
    let shelf = shelf("taken", 1 << 20);
    assert_eq!(taken(&shelf, "0-a"), None);
    put(&shelf, "0-a", 1000).unwrap();
    assert_eq!(taken(&shelf, "0-a"), Some(vec![7; 1000]));
    assert!(shelf.contains("0-a") && !shelf.contains("0-b"));
    shelf.remove("0-a");
    assert_eq!(taken(&shelf, "0-a"), None);
    fs::remove_dir_all(&shelf.path).unwrap();
}

#[test]
fn least_recently_used_entries_are_evicted() {
    let shelf = shelf("room", 1000);
    for (key, seconds_ago) in [("0-a", 30), ("0-b", 20), ("0-c", 10)] {
        put(&shelf, key, 300).unwrap();
        used(&shelf, key, seconds_ago);
    }
    assert!(shelf.open("0-a").is_some(), "now the most recently used");
    put(&shelf, "0-d", 250).unwrap();
    assert_eq!(names(&shelf), ["0-a.columns", "0-c.columns", "0-d.columns"]);
    assert!(put(&shelf, "0-f", 1001).is_err(), "larger than the limit");
    assert_eq!(names(&shelf), ["0-a.columns", "0-c.columns", "0-d.columns"], "nothing was evicted");
    put(&shelf, "0-e", 1000).unwrap();
    assert_eq!(names(&shelf), ["0-e.columns"]);
    fs::remove_dir_all(&shelf.path).unwrap();
}

#[test]
fn failed_write_leaves_no_file_and_stale_parts_are_removed() {
    let shelf = shelf("abandoned", 1000);
    let failed = shelf.insert("0-a", |out| {
        out.write_all(b"half of it")?;
        Err(io::ErrorKind::StorageFull.into())
    });
    assert!(failed.is_err());
    assert!(names(&shelf).is_empty());
    for (name, hours) in [(".old.part", 25), (".new.part", 1), ("else.txt", 99), ("old.part", 99), ("a.columns", 99)] {
        let file = File::create(shelf.path.join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(hours * 60 * 60)).unwrap();
    }
    put(&shelf, "0-a", 1).unwrap();
    assert_eq!(names(&shelf), [".new.part", "0-a.columns", "a.columns", "else.txt", "old.part"]);
    fs::remove_dir_all(&shelf.path).unwrap();
    let in_a_file = CacheFolder { path: std::env::current_exe().unwrap().join("cache"), max_bytes: 1000 };
    assert!(put(&in_a_file, "0-a", 1).is_err());
    assert_eq!(taken(&in_a_file, "0-a"), None);
}

#[test]
fn concurrent_writers_leave_one_entry() {
    let shelf = shelf("several", 100_000);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    put(&shelf, "0-a", 1000).unwrap();
                    assert_eq!(taken(&shelf, "0-a"), Some(vec![7; 1000]));
                }
            });
        }
    });
    assert_eq!(names(&shelf), ["0-a.columns"]);
    fs::remove_dir_all(&shelf.path).unwrap();
}
