//! File names without their endings.

/// Endings that do not identify a rank.
const ENDINGS: [&str; 10] =
    [".gz", ".zst", ".zip", ".pickle", ".pkl", ".pt", ".json", ".html", ".snapshot", ".memory_snapshot"];

/// Strips the endings from a name.
pub(super) fn strip_endings(name: &str) -> &str {
    let mut stem = name;
    while let Some(shorter) = ENDINGS.iter().find_map(|ending| stem.strip_suffix(ending)) {
        stem = shorter;
    }
    stem
}
