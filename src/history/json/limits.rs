//! How much of everything a JSON file may ask for.

/// Longest string, as it is written: as in a pickle, far above the longest known, which are generated sources of under 1 MiB.
pub const STRING_BYTES: usize = 128 << 20;

/// Longest number or word, as it is written. Snapshots hold integers of 20 digits, and a float takes 24 characters.
pub const ATOM_BYTES: usize = 1024;

/// Containers inside one another. A snapshot nests seven deep, a user's metadata perhaps some more.
pub const NESTING: usize = 1 << 12;

/// The limits one machine works under.
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
