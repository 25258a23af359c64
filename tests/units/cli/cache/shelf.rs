//! Entries of the cache: whole or not at all, and no more of them than there is room for.

use super::*;
use std::io::Read;

/// An empty folder, with room for so many bytes.
fn shelf(name: &str, most: u64) -> Shelf {
    let folder = std::env::temp_dir().join(format!("memscape-shelf-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    Shelf { folder, most }
}

fn put(shelf: &Shelf, key: &str, bytes: usize) -> io::Result<()> {
    shelf.put(key, |out| out.write_all(&vec![7; bytes]))
}

fn taken(shelf: &Shelf, key: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    shelf.take(key)?.read_to_end(&mut bytes).unwrap();
    Some(bytes)
}

/// The names in the folder.
fn names(shelf: &Shelf) -> Vec<String> {
    let entries = fs::read_dir(&shelf.folder).into_iter().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn used(shelf: &Shelf, key: &str, seconds_ago: u64) {
    let file = File::options().write(true).open(shelf.path(key)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds_ago)).unwrap();
}

#[test]
fn what_was_put_is_taken_until_it_is_removed() {
    let shelf = shelf("taken", 1 << 20);
    assert_eq!(taken(&shelf, "a"), None);
    put(&shelf, "a", 1000).unwrap();
    assert_eq!(taken(&shelf, "a"), Some(vec![7; 1000]));
    assert!(shelf.has("a") && !shelf.has("b"));
    shelf.remove("a");
    assert_eq!(taken(&shelf, "a"), None);
    fs::remove_dir_all(&shelf.folder).unwrap();
}

#[test]
fn those_used_longest_ago_go_first() {
    let shelf = shelf("room", 1000);
    for (key, seconds_ago) in [("a", 30), ("b", 20), ("c", 10)] {
        put(&shelf, key, 300).unwrap();
        used(&shelf, key, seconds_ago);
    }
    assert!(shelf.take("a").is_some(), "it is the one used last now");
    put(&shelf, "d", 250).unwrap();
    assert_eq!(names(&shelf), ["a.columns", "c.columns", "d.columns"]);
    assert!(put(&shelf, "large", 1001).is_err(), "there is never room for it");
    assert_eq!(names(&shelf), ["a.columns", "c.columns", "d.columns"], "and nothing went for it");
    put(&shelf, "all", 1000).unwrap();
    assert_eq!(names(&shelf), ["all.columns"]);
    fs::remove_dir_all(&shelf.folder).unwrap();
}

#[test]
fn what_fails_leaves_nothing_and_what_was_abandoned_goes() {
    let shelf = shelf("abandoned", 1000);
    let failed = shelf.put("a", |out| {
        out.write_all(b"half of it")?;
        Err(io::ErrorKind::StorageFull.into())
    });
    assert!(failed.is_err());
    assert!(names(&shelf).is_empty());
    for (name, hours) in [(".old.part", 25), (".new.part", 1), ("else.txt", 99)] {
        let file = File::create(shelf.folder.join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(hours * 60 * 60)).unwrap();
    }
    put(&shelf, "a", 1).unwrap();
    assert_eq!(names(&shelf), [".new.part", "a.columns", "else.txt"]);
    fs::remove_dir_all(&shelf.folder).unwrap();
    let in_a_file = Shelf { folder: std::env::current_exe().unwrap().join("cache"), most: 1000 };
    assert!(put(&in_a_file, "a", 1).is_err());
    assert_eq!(taken(&in_a_file, "a"), None);
}

#[test]
fn several_writers_of_one_entry_leave_one() {
    let shelf = shelf("several", 100_000);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    put(&shelf, "a", 1000).unwrap();
                    assert_eq!(taken(&shelf, "a"), Some(vec![7; 1000]));
                }
            });
        }
    });
    assert_eq!(names(&shelf), ["a.columns"]);
    fs::remove_dir_all(&shelf.folder).unwrap();
}
