//! Access to the bytes of a file, and the progress of loading it.

use history::replay::KeepRange;
use serde::{Deserialize, Serialize};

/// Memory limit for the tables of a file on 32-bit targets (wasm), in bytes. The remaining address space is needed for
/// memory that is not counted: gaps between allocations, indices that are built last, the scene, and a few hundred MiB
/// that a malicious file may allocate between two checks.
pub const MAX_TABLE_BYTES_32_BIT: u64 = 3 << 30;

/// Ways of reading a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Access {
    /// The file is read once, from beginning to end. This is the case for links and standard input.
    Sequential,
    /// The file can be read at any offset, and its length is known.
    Random,
}

/// Range of events that is loaded for each device. Events outside the range are read but not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadRange {
    /// First event to load. `to` is the end of the range (exclusive).
    pub from: u32,
    pub to: u32,
    /// Maximum number of events. If the range is longer, only its last events are loaded.
    pub max_events: u32,
}

impl LoadRange {
    pub const ALL: LoadRange = LoadRange { from: 0, to: u32::MAX, max_events: u32::MAX };
}

impl Default for LoadRange {
    fn default() -> LoadRange {
        LoadRange::ALL
    }
}

impl From<LoadRange> for KeepRange {
    fn from(LoadRange { from, to, max_events: last }: LoadRange) -> KeepRange {
        KeepRange { from, to, last }
    }
}

/// Position of the bytes that the engine needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeededBytes {
    /// The bytes after those already fed, or the start of the file.
    Next,
    /// The bytes from this offset on, which is less than the file's length. Only used with [`Access::Random`].
    At(u64),
    /// The whole file, because an archive has its table of contents at the end. The driver has to store the file so
    /// that it can be read with [`Access::Random`], and send [`super::Request::Open`] again. Only used with
    /// [`Access::Sequential`].
    WholeFile,
}

/// A snapshot in a file that contains several snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub name: String,
    /// Uncompressed size in bytes, as stated in the archive.
    pub bytes: u64,
}

/// Progress of loading a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    pub bytes: u64,
    /// Size of the file, if known.
    pub total_bytes: Option<u64>,
    pub phase: Phase,
}

/// Phases of loading, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    Decoding,
    Indexing,
}
