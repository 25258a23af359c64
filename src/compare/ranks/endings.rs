//! Removes extensions from file names.

/// Extensions of snapshots, archives and compressed files.
const ENDINGS: [&str; 10] =
    [".gz", ".zst", ".zip", ".pickle", ".pkl", ".pt", ".json", ".html", ".snapshot", ".memory_snapshot"];

/// Removes all known extensions from a file name.
pub(super) fn strip_endings(name: &str) -> &str {
    let mut stem = name;
    while let Some(shorter) = ENDINGS.iter().find_map(|ending| stem.strip_suffix(ending)) {
        stem = shorter;
    }
    stem
}
