//! Estimate of the memory that a file takes once loaded, from its size and name.
//!
//! The page uses it to ask before loading, the command line to warn.

/// Size of a file's tables in percent of its length: minimum for deep call stacks, maximum for none. An event takes
/// about 45 bytes in the tables and 110 to 400 in the file.
const TAKEN: [u64; 2] = [10, 42];
/// Size of a compressed file's tables in percent of its length. Such files are 5 to 18 times smaller.
const TAKEN_PACKED: [u64; 2] = [100, 700];
/// Extensions of compressed files.
const PACKED: [&str; 4] = [".gz", ".zst", ".zip", ".tgz"];

/// Returns the minimum and the maximum of the bytes of memory that all events of a file of this name and length take.
pub fn taken(name: &str, bytes: u64) -> [u64; 2] {
    let is_packed = PACKED.iter().any(|ending| name.to_ascii_lowercase().ends_with(ending));
    (if is_packed { TAKEN_PACKED } else { TAKEN }).map(|percent| (bytes / 100).saturating_mul(percent))
}
