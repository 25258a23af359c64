//! What is compared, how, and what is known of it.

use crate::effect::{GivenFile, Origin};
use crate::latest::Latest;
use crate::stage::Loading;
use engine::protocol::{Align, DeltaCurve, FileSummary, MatchKey, PairMap, Pairing};
use picture::timeline::View;
use std::rc::Rc;

/// The comparison.
#[derive(Clone, Debug, Default)]
pub struct Comparing {
    pub second: Second,
    /// A and B, by their places in the summary's list of devices; A's first.
    pub pair: Option<[usize; 2]>,
    pub at: ComparedAt,
    /// Matches by this; else by the strictest key that matches enough.
    pub key: Option<MatchKey>,
    /// Aligns by this; else by what fits.
    pub align: Option<Align>,
    /// What beginnings of paths are replaced by before they are compared, as typed: `/home/a/=/home/b/; /opt/=/usr/`.
    pub paths: String,
    /// The load and the number of those that the worker was told last.
    pub(crate) paths_told: (u32, u32),
    /// Whether B's live bytes are drawn over A's.
    pub is_overlaid: bool,
    /// What is to be opened as second file once the first one is.
    pub(crate) wanted: Option<Wanted>,
    /// How many devices the first file has.
    pub(crate) own_devices: usize,
    pub(crate) map: Latest<(i64, Pairing), Rc<PairMap>>,
    pub(crate) aligned: Latest<Asked, ([u32; 2], [u64; 2])>,
    pub(crate) curve: Latest<((i64, Pairing), View), Rc<DeltaCurve>>,
}

impl Comparing {
    /// What a person has chosen, without anything of the files.
    pub(crate) fn chosen(self) -> Comparing {
        let Comparing { at, key, align, paths, is_overlaid, .. } = self;
        Comparing { at, key, align, paths, is_overlaid, ..Comparing::default() }
    }

    /// The load of the second file; 0: none.
    pub(crate) fn number(&self) -> u32 {
        if let Second::Open(_, _, load) = self.second { load } else { 0 }
    }

    /// The number of the paths that are replaced; 0: none.
    pub(crate) fn paths_number(&self) -> u32 {
        // FNV-1a; a text whose number is 0 is none that a person types.
        let text = self.paths.trim();
        let number = text.bytes().fold(0x811c_9dc5u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        if text.is_empty() { 0 } else { number }
    }

    /// Whether anything is compared, or about to be.
    pub fn is_any(&self) -> bool {
        self.pair.is_some() || self.second != Second::None || self.wanted.is_some()
    }
}

/// A moment of a device of a pair: A's ordinal, the pair, whether it is a moment of B.
pub(crate) type Asked = (i64, Pairing, bool, u32);

/// What shall be the second file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// That of this place in the list of snapshots.
    Place(usize),
    Link(String),
}

/// The second file.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Second {
    #[default]
    None,
    /// On its way, with the number of its load.
    Loading(Box<Loading>, u32),
    /// Its summary, where it comes from, and the number of its load. Its devices have ordinals of the second file.
    Open(Box<FileSummary>, Origin, u32),
}

/// Which moments are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ComparedAt {
    #[default]
    Peaks,
    PeakOfA,
    PeakOfB,
    Start,
    End,
    Cursor,
    Range,
}

impl ComparedAt {
    /// All of them, in the order of the list.
    pub const ALL: [ComparedAt; 7] = [
        ComparedAt::Peaks,
        ComparedAt::PeakOfA,
        ComparedAt::PeakOfB,
        ComparedAt::Start,
        ComparedAt::End,
        ComparedAt::Cursor,
        ComparedAt::Range,
    ];

    /// As links have it.
    pub fn name(self) -> &'static str {
        match self {
            ComparedAt::Peaks => "peaks",
            ComparedAt::PeakOfA => "peak-of-a",
            ComparedAt::PeakOfB => "peak-of-b",
            ComparedAt::Start => "start",
            ComparedAt::End => "end",
            ComparedAt::Cursor => "cursor",
            ComparedAt::Range => "range",
        }
    }

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            ComparedAt::Peaks => "peak with peak",
            ComparedAt::PeakOfA => "A's peak, aligned",
            ComparedAt::PeakOfB => "B's peak, aligned",
            ComparedAt::Start => "baselines",
            ComparedAt::End => "ends",
            ComparedAt::Cursor => "cursor, aligned",
            ComparedAt::Range => "peaks of the range",
        }
    }
}

/// What happened to the comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum ComparingAction {
    /// So many files were chosen to compare with; they stand last in the list that the page keeps, from this place on.
    FilesGiven(usize, Vec<GivenFile>),
    /// This load's address is none that can be followed: one sentence.
    Refused(u32, String),
    /// The difference was clicked: at a mark that stands for this moment of A, or at this column of A's window.
    PointedAt(Option<u32>, f64),
    /// A device to compare the shown one with, by its ordinal.
    DeviceChosen(i64),
    AtChosen(ComparedAt),
    KeyChosen(Option<MatchKey>),
    AlignChosen(Option<Align>),
    PathsTyped(String),
}

/// What a key or a control does with the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ComparingStep {
    /// Choose a file to compare with.
    Open,
    /// A becomes B, and B becomes A.
    Swap,
    Overlay,
    /// Compare no longer.
    End,
}
