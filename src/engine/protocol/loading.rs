//! File access and load progress.

use history::replay::KeepRange;
use serde::{Deserialize, Serialize};

/// Memory limit for the tables of a file on 32-bit targets (wasm), in bytes. The rest of the 4 GiB is for memory that
/// is not counted: gaps between allocations, indices that are built at the end, the scene, and a few hundred MiB that
/// a malicious file may allocate between two checks.
pub const MAX_TABLE_BYTES_32_BIT: u64 = 3 << 30;

/// Ways of reading a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Access {
    /// The file is read once, from beginning to end, as from a link or standard input.
    Sequential,
    /// The file can be read at any offset, and its length is known.
    Random,
}

/// Range of events that are kept for each device. All other events are read and dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadRange {
    /// First event to keep. `to` is the end of the range (exclusive).
    pub from: u32,
    pub to: u32,
    /// Maximum number of events. The last ones of the range are kept.
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

/// Bytes that the engine needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeededBytes {
    /// The bytes after the last ones that were fed, or the start of the file.
    Next,
    /// The bytes from this offset, which is less than the file's length. Only with [`Access::Random`].
    At(u64),
    /// The whole file, stored so that it can be read with [`Access::Random`]. The driver then sends
    /// [`super::Request::Open`] again. Only with [`Access::Sequential`], because an archive has its table of contents
    /// at the end.
    WholeFile,
}

/// One of several snapshots in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub name: String,
    /// Uncompressed size as stated in the file.
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
