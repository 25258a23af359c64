//! Estimate of the memory that a file takes once loaded, from its size and name.
//!
//! The page uses the estimate to ask before loading, and the command line to warn.

/// Size of the loaded tables in percent of the file's length: minimum (with deep call stacks) and maximum (without call
/// stacks). An event takes about 45 bytes in the tables and 110 to 400 in the file.
const TABLE_PERCENT: [u64; 2] = [10, 42];
/// Minimum and maximum size of the loaded tables in percent of a compressed file's length. Such files are 5 to 18 times
/// smaller.
const PACKED_TABLE_PERCENT: [u64; 2] = [100, 700];
/// Extensions of compressed files.
const PACKED_EXTENSIONS: [&str; 4] = [".gz", ".zst", ".zip", ".tgz"];

/// Estimates the memory that all events of a file with this name and length take: minimum and maximum, in bytes.
pub fn estimated_memory(name: &str, bytes: u64) -> [u64; 2] {
    let is_packed = PACKED_EXTENSIONS.iter().any(|ending| name.to_ascii_lowercase().ends_with(ending));
    (if is_packed { PACKED_TABLE_PERCENT } else { TABLE_PERCENT }).map(|percent| (bytes / 100).saturating_mul(percent))
}
