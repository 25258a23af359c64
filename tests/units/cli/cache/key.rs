//! Cache keys of files: each state of a file has its own key.

use super::*;
use std::io::Write;

fn key(file: &mut File) -> String {
    FileVersion::read(file).unwrap().key(file).unwrap().unwrap()
}

#[test]
fn changed_file_has_different_cache_key() {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&vec![1; 5 << 20]).unwrap();
    let an_hour_ago = SystemTime::now() - Duration::from_secs(3600);
    file.set_modified(an_hour_ago).unwrap();
    let first = key(&mut file);
    assert_eq!(key(&mut file), first);
    // Changes in the first, middle and last MiB change the fingerprint.
    let mut before = first;
    for at in [0, 5 << 19, (5 << 20) - 1] {
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(&[2]).unwrap();
        file.set_modified(an_hour_ago).unwrap();
        let now = key(&mut file);
        let print = |key: &str| key.split('-').take(2).map(str::to_owned).collect::<Vec<_>>();
        assert_ne!(print(&now), print(&before), "at {at}");
        before = now;
    }
    // Changes elsewhere are detected by the modification time, or by the change time, which programs cannot set.
    file.seek(SeekFrom::Start((1 << 20) + 5)).unwrap();
    file.write_all(&[2]).unwrap();
    assert_ne!(key(&mut file), before);
    before = key(&mut file);
    file.set_len((5 << 20) + 1).unwrap();
    assert_ne!(key(&mut file), before);
}

#[test]
fn recently_modified_file_is_not_settled() {
    let file = tempfile::tempfile().unwrap();
    assert!(!FileVersion::read(&file).unwrap().is_settled());
    file.set_modified(SystemTime::now() + Duration::from_secs(60)).unwrap();
    assert!(!FileVersion::read(&file).unwrap().is_settled(), "modification time in the future");
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    assert!(FileVersion::read(&file).unwrap().is_settled());
}
