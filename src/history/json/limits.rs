//! Limits of the JSON parser.

/// Maximum length of a string in the file, in bytes. Far above the longest known strings, which are generated sources
/// of under 1 MiB.
pub const STRING_BYTES: usize = 128 << 20;

/// Maximum length of a number or literal in the file, in bytes. Snapshots contain integers of 20 digits, and a float
/// has up to 24 characters.
pub const ATOM_BYTES: usize = 1024;

/// Maximum nesting depth of containers. A snapshot has seven levels, and user metadata may have more.
pub const NESTING: usize = 1 << 12;

/// Limits of one parser.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum length of a string, see [`STRING_BYTES`].
    pub string_bytes: usize,
    /// Maximum length of a number or literal, see [`ATOM_BYTES`].
    pub atom_bytes: usize,
    /// Maximum nesting depth, see [`NESTING`]. Must be below 2^32.
    pub nesting: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { string_bytes: STRING_BYTES, atom_bytes: ATOM_BYTES, nesting: NESTING }
    }
}
