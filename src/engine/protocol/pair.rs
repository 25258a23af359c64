//! Two devices against each other: of two files, or of one. Who holds both files answers, which is not the engine (`compare::Pair`).

use picture::timeline::View;
use serde::{Deserialize, Serialize};

/// Ordinals of the devices of the second file begin here: beyond those of any file, which have 32 bits.
const SECOND: i64 = 1 << 40;

/// The ordinal that stands for a device of the second file.
pub fn in_second_file(device: i64) -> i64 {
    device.saturating_add(SECOND)
}

/// The ordinal in its own file, and whether that is the second one.
pub fn own_ordinal(device: i64) -> (i64, bool) {
    let is_second = device >= SECOND / 2;
    (if is_second { device - SECOND } else { device }, is_second)
}

base::listed! {
    /// By what allocations of two files are held to be alike; those that are tried automatically come first, the strictest before the looser.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum MatchKey {
        /// Every frame: file, line and function.
        Stack,
        /// The Python frames; a stack without any by its operator.
        PythonFrames,
        /// The same without lines.
        NoLines,
        /// The same without folders either.
        NoFolders,
        /// The call site: file name, line and function.
        CallSite,
        Category,
        /// The innermost annotation around the allocation.
        Annotation,
        /// The `nn.Module` that allocates.
        Module,
        /// The pool of the allocator.
        Pool,
    }
}

impl MatchKey {
    /// As the command line, links and JSON have it.
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

    /// For people.
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
    /// How moments are aligned.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum Align {
        /// Step by step, and by the sequence of allocations within each.
        Steps,
        /// By the sequence of allocations.
        Sequence,
        /// By the share of events that have passed.
        Share,
    }
}

impl Align {
    /// As the command line, links and JSON have it.
    pub fn name(self) -> &'static str {
        match self {
            Align::Steps => "steps",
            Align::Sequence => "sequence",
            Align::Share => "share",
        }
    }

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Align::Steps => "steps",
            Align::Sequence => "sequence of allocations",
            Align::Share => "share of events",
        }
    }
}

/// Which moments are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PairAt {
    /// The peak of A with the peak of B.
    #[default]
    Peaks,
    /// The peak of A with the aligned moment of B.
    PeakOfA,
    PeakOfB,
    /// Before the first events.
    Start,
    End,
    /// A moment of A with the aligned one of B.
    Moment(u32),
    /// The peaks of a range of A and of the aligned range of B.
    Range(u32, u32),
    /// A moment of A with one of B, whatever they are aligned with.
    Both(u32, u32),
}

/// The other device, B, and how the two are compared; what is not said is chosen automatically.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairing {
    /// The ordinal of B, of the [second file](in_second_file) or of the first.
    pub b: i64,
    pub at: PairAt,
    pub key: Option<MatchKey>,
    pub align: Option<Align>,
    /// The number of [`PairQuestion::Paths`] that holds; 0: none.
    pub paths: u32,
}

/// A question about two devices; the first is the one that is [asked](super::Ask::device).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PairQuestion {
    /// Which moments belong together: so many places at most, the ends included, ascending in both.
    Map(Pairing, u32),
    /// The moment of the other device that belongs to this one; of B where the first is `false`, else of A.
    Aligned(Pairing, bool, u32),
    /// Live bytes over a window of A: those of A, those of B at the aligned moments.
    Curve(Pairing, View),
    /// What beginnings of paths are replaced by before they are compared, and the number of it: `/home/a/=/home/b/; /opt/=/usr/`. It has no
    /// answer.
    Paths(u32, String),
}

/// Its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PairAnswer {
    Map(PairMap),
    /// The moments of A and B, and their live bytes.
    Aligned(u32, u32, u64, u64),
    Curve(Box<DeltaCurve>),
}

/// Moments of A and B that belong together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PairMap {
    /// How they were aligned.
    pub align: Option<Align>,
    pub places: Vec<(u32, u32)>,
}

/// How live bytes differ over a window of A.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeltaCurve {
    /// The columns' edges in pixels of A's window.
    pub edge_px: Vec<i32>,
    /// The largest of B's live bytes in each column.
    pub b: Vec<u64>,
    /// The smallest B − A in each column.
    pub least: Vec<i64>,
    /// The largest.
    pub most: Vec<i64>,
    /// Where the largest differences of the whole trace are, the largest first: moments of A. None is near a larger one.
    pub largest_at: Vec<u32>,
    /// B − A there.
    pub largest: Vec<i64>,
}
