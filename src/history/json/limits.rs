//! Limits of the JSON parser.

/// Maximum length of a string as written, in bytes. As for pickles, this is far above the longest known strings:
/// generated sources of under 1 MiB.
pub const STRING_BYTES: usize = 128 << 20;

/// Maximum length of a number or literal as written, in bytes. Snapshots hold integers of 20 digits, and a float takes
/// 24 characters.
pub const ATOM_BYTES: usize = 1024;

/// Maximum nesting depth of containers. A snapshot nests seven deep, user metadata perhaps deeper.
pub const NESTING: usize = 1 << 12;

/// Limits of one parser.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// See [`STRING_BYTES`].
    pub string_bytes: usize,
    /// See [`ATOM_BYTES`].
    pub atom_bytes: usize,
    /// See [`NESTING`]; below 2^32.
    pub nesting: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { string_bytes: STRING_BYTES, atom_bytes: ATOM_BYTES, nesting: NESTING }
    }
}
