//! Estimates the memory that a file takes once it is loaded, from its size and name.
//!
//! The page uses the estimate to ask before loading a large file, and the command line to print a warning.

/// Minimum and maximum size of the loaded tables, in percent of the file's length. An event takes about 45 bytes in the
/// tables, and 110 (without call stacks) to 400 bytes (with deep ones) in the file.
const TABLE_PERCENT: [u64; 2] = [10, 42];
/// Minimum and maximum size of the loaded tables, in percent of a compressed file's length. Compression reduces the
/// length by a factor of 5 to 18.
const PACKED_TABLE_PERCENT: [u64; 2] = [100, 700];
/// Extensions of compressed files.
const PACKED_EXTENSIONS: [&str; 4] = [".gz", ".zst", ".zip", ".tgz"];

/// Estimates the minimum and maximum memory, in bytes, that all events of a file take. `bytes` is the file's length.
pub fn estimated_memory(name: &str, bytes: u64) -> [u64; 2] {
    let is_packed = PACKED_EXTENSIONS.iter().any(|ending| name.to_ascii_lowercase().ends_with(ending));
    (if is_packed { PACKED_TABLE_PERCENT } else { TABLE_PERCENT }).map(|percent| (bytes / 100).saturating_mul(percent))
}
