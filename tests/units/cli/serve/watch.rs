//! Unit tests of `src/cli/serve/watch.rs`.

use super::*;
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("memscape-watch-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns rank, version and address of the files, as if the last scan were long ago.
fn look(watch: &Watch, listing: &Listing) -> Vec<(Option<u32>, String, String)> {
    if let Some(last) = watch.0.lock().unwrap().as_mut() {
        last.ended -= SCAN_INTERVAL;
        last.duration = Duration::ZERO;
    }
    let files = watch.files(listing);
    files.complete.iter().map(|file| (file.rank, file.version.clone(), file.address.clone())).collect()
}

#[test]
fn file_appears_once_completely_written() {
    let folder = folder("growing");
    let path = folder.join("rank3_step5.pickle");
    let (watch, listing) = (Watch::default(), Listing::new(std::slice::from_ref(&folder)).unwrap());
    assert_eq!(look(&watch, &listing), []);
    fs::write(&path, b"\x80\x04]").unwrap();
    assert_eq!(look(&watch, &listing), [], "just written");
    assert_eq!(look(&watch, &listing), [], "the pickle has no STOP opcode");
    fs::write(&path, b"\x80\x04].").unwrap();
    assert_eq!(look(&watch, &listing), []);
    let whole = look(&watch, &listing);
    let [(rank, version, address)] = whole.as_slice() else { panic!("{whole:?}") };
    assert_eq!((*rank, address.as_str()), (Some(3), "0/rank3_step5.pickle"));
    // While the file is being rewritten, the old version stays listed.
    fs::write(&path, b"\x80\x04]]]").unwrap();
    assert_eq!(look(&watch, &listing), whole);
    assert_eq!(look(&watch, &listing), whole);
    fs::write(&path, b"\x80\x04]]].").unwrap();
    look(&watch, &listing);
    let again = look(&watch, &listing);
    assert!(again.len() == 1 && again[0].1 != *version && again[0].2 == *address, "{again:?}");
    // Other formats count as complete once they stop changing.
    fs::write(folder.join("rank4.pickle.gz"), b"\x1f\x8b").unwrap();
    look(&watch, &listing);
    assert_eq!(look(&watch, &listing).len(), 2);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn file_list_has_one_line_per_file() {
    let seen = |rank, address: &str| CompleteFile {
        rank,
        version: "\"3f-2\"".into(),
        changed: SystemTime::now() + Duration::from_secs(9),
        address: address.into(),
    };
    let of = |count, seen| event_lines(&Files { count, complete: seen });
    let lines = [of(0, Vec::new()), of(300, vec![seen(None, "0/a.pickle"), seen(Some(7), "1/b%20c.pickle")])];
    assert_eq!(lines, ["files 0", "files 300\n- 3f-2 0 0/a.pickle\n7 3f-2 0 1/b%20c.pickle"]);
}
