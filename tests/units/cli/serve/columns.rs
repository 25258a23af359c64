//! Unit tests of `src/cli/serve/decoded_cache.rs`.

use super::*;

fn state(path: &str, length: u64) -> FileVersion {
    FileVersion { path: path.into(), length, changed: SystemTime::UNIX_EPOCH }
}

fn some(bytes: usize) -> DecodedSnapshot {
    Some(vec![0; bytes].into())
}

#[test]
fn least_recently_requested_columns_are_evicted() {
    let columns = DecodedCache::default();
    let is_known = |path: &str| columns.lookup(&state(path, 1)).is_some();
    columns.insert(state("a", 1), some(100 << 20));
    columns.insert(state("b", 1), some(100 << 20));
    assert!(is_known("b") && is_known("a"));
    columns.insert(state("c", 1), some(100 << 20));
    assert!(!is_known("b") && is_known("a") && is_known("c"));
    columns.insert(state("large", 1), some(300 << 20));
    assert!(!is_known("large") && !is_known("a"), "columns above the limit are not kept");
    (0..300).for_each(|number| columns.insert(state(&number.to_string(), 1), None));
    assert_eq!(columns.cached.lock().unwrap().len(), MAX_FILES);
}

#[test]
fn only_last_version_of_file_is_kept() {
    let columns = DecodedCache::default();
    columns.insert(state("a", 1), some(1));
    columns.insert(state("a", 2), None);
    assert!(columns.lookup(&state("a", 1)).is_none());
    assert_eq!(columns.lookup(&state("a", 2)), Some(None), "known not to be a snapshot");
    let later = FileVersion { changed: SystemTime::now(), ..state("a", 2) };
    assert!(columns.lookup(&later).is_none());
}
