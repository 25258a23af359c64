//! What a file takes in memory, estimated before it is read: for the page, which asks, and the command line, which warns.

/// Percent of a file's bytes that its tables take, from snapshots with deep call stacks to those with none: an event takes some 45 bytes
/// there, and 110 to 400 in the file.
const TAKEN: [u64; 2] = [10, 42];
/// The same of a file that is packed, 5 to 18 times as small.
const TAKEN_PACKED: [u64; 2] = [100, 700];
/// Endings of files that are packed.
const PACKED: [&str; 4] = [".gz", ".zst", ".zip", ".tgz"];

/// Bytes that all events of a file of this name and so many bytes take in memory: at least, and at most.
pub fn taken(name: &str, bytes: u64) -> [u64; 2] {
    let is_packed = PACKED.iter().any(|ending| name.to_ascii_lowercase().ends_with(ending));
    (if is_packed { TAKEN_PACKED } else { TAKEN }).map(|percent| (bytes / 100).saturating_mul(percent))
}
