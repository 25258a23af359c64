//! Queries about two devices, in one file or in two files, and their results. They are answered by `compare::Pair`,
//! which has access to both files, not by the engine.

use picture::timeline::View;
use serde::{Deserialize, Serialize};

/// Offset that is added to the ordinals of devices in the second file. Ordinals within a file have 32 bits, so both
/// ranges never overlap.
const SECOND_FILE_OFFSET: i64 = 1 << 40;

/// Returns the ordinal that represents a device of the second file.
pub fn second_file_ordinal(device: i64) -> i64 {
    device.saturating_add(SECOND_FILE_OFFSET)
}

/// Returns the ordinal of a device within its file, and true if the device is in the second file.
pub fn split_ordinal(device: i64) -> (i64, bool) {
    let is_second = device >= SECOND_FILE_OFFSET / 2;
    (if is_second { device - SECOND_FILE_OFFSET } else { device }, is_second)
}

base::listed! {
    /// Criterion for matching allocations of two devices. In automatic mode, the criteria are tried in this order,
    /// strictest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum MatchKey {
        /// All frames, each with file, line and function.
        Stack = "stack", "call stack";
        /// Python frames. Stacks without Python frames are matched by their operator.
        PythonFrames = "python-frames", "Python frames";
        /// Python frames, ignoring line numbers.
        NoLines = "no-lines", "Python frames without lines";
        /// Python frames, ignoring line numbers and folders.
        NoFolders = "no-folders", "Python frames without lines and folders";
        /// Call site: file name, line and function.
        CallSite = "call-site", "call site";
        /// Function of the call site, without its line: unchanged if code above it is edited.
        Function = "function", "function";
        /// File of the call site.
        File = "file", "file";
        Category = "category", "category";
        /// Innermost annotation that is open when the allocation is made.
        Annotation = "annotation", "annotation";
        /// `nn.Module` that makes the allocation.
        Module = "module", "module";
        /// Allocator pool.
        Pool = "pool", "pool";
    }
}

impl MatchKey {
    /// Returns whether allocations are matched by the frame of their call site alone.
    pub fn is_by_call_site(self) -> bool {
        matches!(self, MatchKey::CallSite | MatchKey::Function | MatchKey::File)
    }
}

base::listed! {
    /// Method of aligning the moments of two devices.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum Align {
        /// By training step, and within each step by the sequence of allocations.
        Steps = "steps", "steps";
        /// By the sequence of allocations in the whole trace.
        Sequence = "sequence", "sequence of allocations";
        /// By the fraction of events up to the moment.
        Share = "share", "share of events";
    }
}

/// Moments at which two devices (A and B) are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PairMoments {
    /// Peak of A and peak of B.
    #[default]
    Peaks,
    /// Peak of A and the aligned moment of B.
    PeakOfA,
    PeakOfB,
    /// Start of both traces, before the first event.
    Start,
    End,
    /// A moment of A and the aligned moment of B.
    Moment(u32),
    /// Peaks within a range of A and within the aligned range of B.
    Range(u32, u32),
    /// A moment of A and a moment of B, regardless of the alignment.
    Both(u32, u32),
}

/// The device B to compare with, and the comparison settings. Settings that are `None` are chosen automatically.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairing {
    /// Ordinal of B in the first file, or an ordinal that [`second_file_ordinal`] returned.
    pub b: i64,
    pub at: PairMoments,
    pub key: Option<MatchKey>,
    pub align: Option<Align>,
    /// Id of the path replacements to apply, as set by [`PairQuestion::PathPrefixes`]. 0 applies none.
    pub paths: u32,
}

/// Query about two devices. Device A is [`Ask::device`](super::Ask::device).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PairQuestion {
    /// Pairs of aligned moments in ascending order, including the first and the last moment. The second value is the
    /// maximum number of pairs.
    Map(Pairing, u32),
    /// Finds the moment of the other device that is aligned with a given moment. The flag is true if the given moment
    /// belongs to B.
    Aligned(Pairing, bool, u32),
    /// Difference of live bytes in each column of a window of A. B is measured at the aligned moments.
    Curve(Pairing, View),
    /// Sets path prefixes to replace before paths are compared: an id, and a list such as `/home/a/=/home/b/;
    /// /opt/=/usr/`. Has no answer.
    PathPrefixes(u32, String),
}

/// Result of a [`PairQuestion`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PairAnswer {
    Map(PairMap),
    /// Aligned moments of A and B, followed by the live bytes of A and B at these moments.
    Aligned(u32, u32, u64, u64),
    Curve(Box<DeltaCurve>),
}

/// Pairs of aligned moments of two devices (A and B).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PairMap {
    /// Method of alignment that was used.
    pub align: Option<Align>,
    pub moments: Vec<(u32, u32)>,
}

/// Difference of live bytes between A and B over a window of A.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeltaCurve {
    /// Edges of the pixel columns, relative to the left edge of the requested window, which shows device A.
    pub edge_px: Vec<i32>,
    /// Maximum live bytes of B per column.
    pub b: Vec<u64>,
    /// Minimum per column of the live bytes of B minus the live bytes of A.
    pub min: Vec<i64>,
    /// Maximum per column of the live bytes of B minus the live bytes of A.
    pub max: Vec<i64>,
    /// Moments of A with the largest differences in the whole trace, the largest first. Moments close to a larger
    /// difference are left out.
    pub largest_at: Vec<u32>,
    /// Live bytes of B minus live bytes of A, at each moment of `largest_at`.
    pub largest: Vec<i64>,
}
