//! Estimate of the memory that a file takes once loaded, from its size and name.
//!
//! The page uses it to ask before loading, the command line to warn.

/// Size of a file's tables in percent of its length: minimum for deep call stacks, maximum for none. An event takes
/// about 45 bytes in the tables and 110 to 400 in the file.
const TABLE_PERCENT: [u64; 2] = [10, 42];
/// Size of a compressed file's tables in percent of its length. Such files are 5 to 18 times smaller.
const PACKED_TABLE_PERCENT: [u64; 2] = [100, 700];
/// Extensions of compressed files.
const PACKED_EXTENSIONS: [&str; 4] = [".gz", ".zst", ".zip", ".tgz"];

/// Returns the minimum and the maximum of the bytes of memory that all events of a file of this name and length take.
pub fn estimated_memory(name: &str, bytes: u64) -> [u64; 2] {
    let is_packed = PACKED_EXTENSIONS.iter().any(|ending| name.to_ascii_lowercase().ends_with(ending));
    (if is_packed { PACKED_TABLE_PERCENT } else { TABLE_PERCENT }).map(|percent| (bytes / 100).saturating_mul(percent))
}
