//! Questions and answers about two devices of one file or two files. They are answered by `compare::Pair`, which
//! holds both files, not by the engine.

use picture::timeline::View;
use serde::{Deserialize, Serialize};

/// Offset of the ordinals of devices in the second file. Ordinals in a file have 32 bits, so they never overlap.
const SECOND_FILE_OFFSET: i64 = 1 << 40;

/// Returns the ordinal that stands for a device of the second file.
pub fn second_file_ordinal(device: i64) -> i64 {
    device.saturating_add(SECOND_FILE_OFFSET)
}

/// Returns the ordinal of a device within its file, and whether that is the second file.
pub fn split_ordinal(device: i64) -> (i64, bool) {
    let is_second = device >= SECOND_FILE_OFFSET / 2;
    (if is_second { device - SECOND_FILE_OFFSET } else { device }, is_second)
}

base::listed! {
    /// Criterion for matching allocations of two files. The automatic choice tries them in this order,
    /// strictest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum MatchKey {
        /// Every frame: file, line and function.
        Stack,
        /// Python frames. A stack without any is matched by its operator.
        PythonFrames,
        /// Python frames without lines.
        NoLines,
        /// Python frames without lines and folders.
        NoFolders,
        /// Call site: file name, line and function.
        CallSite,
        Category,
        /// Innermost annotation around the allocation.
        Annotation,
        /// `nn.Module` that allocates.
        Module,
        /// Allocator pool.
        Pool,
    }
}

impl MatchKey {
    /// Returns the name used on the command line, in links and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            MatchKey::Stack => "stack",
            MatchKey::PythonFrames => "python-frames",
            MatchKey::NoLines => "no-lines",
            MatchKey::NoFolders => "no-folders",
            MatchKey::CallSite => "call-site",
            MatchKey::Category => "category",
            MatchKey::Annotation => "annotation",
            MatchKey::Module => "module",
            MatchKey::Pool => "pool",
        }
    }

    /// Returns the display name.
    pub fn title(self) -> &'static str {
        match self {
            MatchKey::Stack => "call stack",
            MatchKey::PythonFrames => "Python frames",
            MatchKey::NoLines => "Python frames without lines",
            MatchKey::NoFolders => "Python frames without lines and folders",
            MatchKey::CallSite => "call site",
            MatchKey::Category => "category",
            MatchKey::Annotation => "annotation",
            MatchKey::Module => "module",
            MatchKey::Pool => "pool",
        }
    }
}

base::listed! {
    /// Method of aligning the moments of two devices.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum Align {
        /// By training step, and within each step by the sequence of allocations.
        Steps,
        /// By the sequence of allocations.
        Sequence,
        /// By the fraction of events that have happened.
        Share,
    }
}

impl Align {
    /// Returns the name used on the command line, in links and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Align::Steps => "steps",
            Align::Sequence => "sequence",
            Align::Share => "share",
        }
    }

    /// Returns the display name.
    pub fn title(self) -> &'static str {
        match self {
            Align::Steps => "steps",
            Align::Sequence => "sequence of allocations",
            Align::Share => "share of events",
        }
    }
}

/// Moments to compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PairMoments {
    /// Peak of A and peak of B.
    #[default]
    Peaks,
    /// Peak of A and the aligned moment of B.
    PeakOfA,
    PeakOfB,
    /// Before the first events.
    Start,
    End,
    /// A moment of A and the aligned moment of B.
    Moment(u32),
    /// Peaks within a range of A and within the aligned range of B.
    Range(u32, u32),
    /// A moment of A and a moment of B, regardless of the alignment.
    Both(u32, u32),
}

/// The second device (B) and the comparison settings. `None` chooses a setting automatically.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairing {
    /// Ordinal of B, in the first file or in the [second file](second_file_ordinal).
    pub b: i64,
    pub at: PairMoments,
    pub key: Option<MatchKey>,
    pub align: Option<Align>,
    /// Id of the [`PairQuestion::PathPrefixes`] to apply. 0 applies none.
    pub paths: u32,
}

/// Question about two devices. Device A is the one in [`Ask::device`](super::Ask::device).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PairQuestion {
    /// Pairs of aligned moments, at most this many, with both ends included. Ascending for both devices.
    Map(Pairing, u32),
    /// Moment of the other device that is aligned with the given moment. The flag is true if the given moment belongs
    /// to B.
    Aligned(Pairing, bool, u32),
    /// Difference of live bytes over a window of A, with B at the aligned moments.
    Curve(Pairing, View),
    /// Id and text of path prefix replacements, such as `/home/a/=/home/b/; /opt/=/usr/`. They are applied before paths
    /// are compared. Has no answer.
    PathPrefixes(u32, String),
}

/// Answer to a [`PairQuestion`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PairAnswer {
    Map(PairMap),
    /// Moment of A, moment of B, live bytes of A, live bytes of B.
    Aligned(u32, u32, u64, u64),
    Curve(Box<DeltaCurve>),
}

/// Pairs of aligned moments of A and B.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PairMap {
    /// Method of alignment that was used.
    pub align: Option<Align>,
    pub moments: Vec<(u32, u32)>,
}

/// Difference of live bytes over a window of A.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeltaCurve {
    /// Column edges in pixels of A's window.
    pub edge_px: Vec<i32>,
    /// Maximum live bytes of B per column.
    pub b: Vec<u64>,
    /// Minimum of B − A per column.
    pub min: Vec<i64>,
    /// Maximum of B − A per column.
    pub max: Vec<i64>,
    /// Moments of A at which the difference is largest over the whole trace, in descending order of size. Moments
    /// close to a larger difference are left out.
    pub largest_at: Vec<u32>,
    /// B − A at each moment of `largest_at`.
    pub largest: Vec<i64>,
}
