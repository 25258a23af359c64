//! How a file is reached, and how far loading it is.

use history::replay::Keep;
use serde::{Deserialize, Serialize};

/// What the tables of a file may take where addresses have 32 bits (wasm). Of the 4 GiB, the rest is for what is not counted: the
/// gaps between allocations, indices made at the end, the scene, and the few hundred MiB that a hostile file may have us
/// take between two looks.
pub const MOST_OF_32_BITS: u64 = 3 << 30;

/// How the bytes of a file can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Access {
    /// From beginning to end, once: a link, standard input.
    Forward,
    /// At any offset; the length is known.
    Anywhere,
}

/// The events of each device that are loaded: all others are read and not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadRange {
    /// The first, and the one after the last.
    pub from: u32,
    pub to: u32,
    /// Of these at most so many, the last ones.
    pub last: u32,
}

impl LoadRange {
    /// All events.
    pub const ALL: LoadRange = LoadRange { from: 0, to: u32::MAX, last: u32::MAX };
}

impl Default for LoadRange {
    fn default() -> LoadRange {
        LoadRange::ALL
    }
}

impl From<LoadRange> for Keep {
    fn from(LoadRange { from, to, last }: LoadRange) -> Keep {
        Keep { from, to, last }
    }
}

/// Which bytes the engine needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Those that follow what was fed last; at first, the beginning of the file.
    Next,
    /// Those from this offset of the file on, which is within its length. Asked only under [`Access::Anywhere`].
    At(u64),
    /// The whole file, kept where it can be read [`Access::Anywhere`]; then [`super::Request::Open`] again. Asked only under
    /// [`Access::Forward`]: the table of contents of an archive stands at its end.
    Whole,
}

/// One of several snapshots in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub name: String,
    /// Its length as the file gives it, unpacked.
    pub bytes: u64,
}

/// How far loading is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Bytes of the file read so far.
    pub bytes: u64,
    /// Bytes in all, where known.
    pub total_bytes: Option<u64>,
    pub phase: Phase,
}

/// The phases of loading, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    Decoding,
    Indexing,
}
