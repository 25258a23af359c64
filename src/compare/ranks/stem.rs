//! Names of files without their endings.

/// Endings that say nothing about the rank.
const ENDINGS: [&str; 10] =
    [".gz", ".zst", ".zip", ".pickle", ".pkl", ".pt", ".json", ".html", ".snapshot", ".memory_snapshot"];

/// A name without what only says how the file is written.
pub(super) fn stem(name: &str) -> &str {
    let mut stem = name;
    while let Some(shorter) = ENDINGS.iter().find_map(|ending| stem.strip_suffix(ending)) {
        stem = shorter;
    }
    stem
}
