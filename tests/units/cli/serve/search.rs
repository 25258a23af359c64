//! Unit tests of `src/cli/serve/search.rs`.

use super::*;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("memscape-search-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn missed(folder: &Path, entries: usize) -> Vec<String> {
    search(&[folder], entries).not_searched
}

#[test]
fn limited_search_is_reported() {
    let folder = folder("early");
    (0..5).for_each(|place| fs::write(folder.join(format!("rank{place}.pickle")), b"x").unwrap());
    let few = search(&[&folder], 3);
    assert_eq!(
        (few.snapshots.len(), &*few.not_searched),
        (3, &["Only the first 3 files and folders were searched.".to_owned()][..])
    );
    let all = search(&[&folder], 5);
    assert_eq!((all.snapshots.len(), all.not_searched), (5, Vec::new()));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn too_deep_folders_are_counted() {
    let folder = folder("deep");
    let deepest: PathBuf = (0..9).fold(folder.clone(), |folder, level| folder.join(level.to_string()));
    fs::create_dir_all(deepest.join("deeper")).unwrap();
    fs::write(deepest.parent().unwrap().join("a.pickle"), b"x").unwrap();
    assert_eq!(search(&[&folder], 100).snapshots.len(), 1);
    assert_eq!(missed(&folder, 100), ["1 folder more than 8 levels deep not searched."]);
    fs::remove_dir_all(folder).unwrap();
}

#[cfg(unix)]
#[test]
fn symlinks_to_snapshots_are_counted() {
    let folder = folder("links");
    for name in ["latest.pickle", "latest.png"] {
        std::os::unix::fs::symlink("/nonexistent", folder.join(name)).unwrap();
    }
    assert_eq!(
        (search(&[&folder], 100).snapshots.len(), missed(&folder, 100)),
        (0, vec!["1 link not followed.".to_owned()])
    );
    fs::remove_dir_all(folder).unwrap();
}
