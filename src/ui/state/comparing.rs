//! State of the comparison: the second file, the compared devices, and how their allocations and moments are matched.

use crate::state::compared_at::ComparedAt;
use crate::state::effect::{GivenFile, Origin};
use crate::state::latest::Latest;
use crate::state::stage::Loading;
use picture::timeline::View;
use protocol::{Align, DeltaCurve, FileSummary, MatchKey, PairMap, Pairing};
use std::rc::Rc;

/// State of the comparison of two devices, and the user's choices for it.
#[derive(Clone, Debug, Default)]
pub struct Comparing {
    pub second: SecondFile,
    /// Indices of the compared devices A and B in the summary's list of devices. Devices of the second file follow
    /// those of the first file.
    pub pair: Option<[usize; 2]>,
    pub at: ComparedAt,
    /// Key for matching allocations of A and B. `None` selects the strictest key that matches enough of them.
    pub key: Option<MatchKey>,
    /// Method that aligns the moments of A and B. `None` selects one automatically.
    pub align: Option<Align>,
    /// Path prefixes that are replaced before paths are compared, as typed: `/home/a/=/home/b/; /opt/=/usr/`.
    pub paths: String,
    /// Load id and [`Comparing::paths_hash`] of the path prefixes that were last sent to the worker.
    pub(crate) sent_paths: (u32, u32),
    /// True if the curve of B's live bytes is drawn over A's timeline.
    pub is_overlaid: bool,
    /// Second file to open once the first one is open.
    pub(crate) pending_second: Option<SecondSource>,
    /// Number of devices in the first file.
    pub(crate) first_device_count: usize,
    pub(crate) map: Latest<(i64, Pairing), Rc<PairMap>>,
    pub(crate) aligned: Latest<AlignedQuestion, ([u32; 2], [u64; 2])>,
    pub(crate) curve: Latest<((i64, Pairing), View), Rc<DeltaCurve>>,
}

impl Comparing {
    /// Returns a copy with only the user's choices, without data of the open files.
    pub(crate) fn user_choices(self) -> Comparing {
        let Comparing { at, key, align, paths, is_overlaid, .. } = self;
        Comparing { at, key, align, paths, is_overlaid, ..Comparing::default() }
    }

    /// Returns the load id of the second file, or 0 if there is no second file.
    pub(crate) fn second_load(&self) -> u32 {
        if let SecondFile::Open(_, _, load) = self.second { load } else { 0 }
    }

    /// Returns a hash of the path prefixes to replace, or 0 if there are none.
    pub(crate) fn paths_hash(&self) -> u32 {
        // 32-bit FNV-1a. No text that a user would type is expected to hash to 0.
        let text = self.paths.trim();
        let hash = text.bytes().fold(0x811c_9dc5u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        if text.is_empty() { 0 } else { hash }
    }

    /// Returns whether a comparison is shown, or will be once the second file is loaded.
    pub fn is_active(&self) -> bool {
        self.pair.is_some() || self.second != SecondFile::None || self.pending_second.is_some()
    }
}

/// Inputs of a request for an aligned moment: the ordinal of A, the pairing with B, true if the moment is one of B, and
/// the moment.
pub(crate) type AlignedQuestion = (i64, Pairing, bool, u32);

/// Source of the second file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SecondSource {
    /// The file at this index in the list of snapshots.
    Index(usize),
    Link(String),
}

/// Loading state of the second file. `None` if both devices are in the first file.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SecondFile {
    #[default]
    None,
    /// The file is loading. Holds its progress and its load id.
    Loading(Box<Loading>, u32),
    /// The file is open. Holds its summary, origin and load id. Its devices have [ordinals of their
    /// own](protocol::second_file_ordinal).
    Open(Box<FileSummary>, Origin, u32),
}

/// User input and loading errors of the comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum ComparingAction {
    /// Files to compare with were chosen and appended to the shell's list of files. Holds the index of the first one,
    /// and the files.
    FilesGiven(usize, Vec<GivenFile>),
    /// The address of the second file cannot be fetched. Holds the load id and the error message.
    LoadRefused(u32, String),
    /// The difference curve was clicked. Holds the moment (of A) of the clicked mark, if any, and the clicked column,
    /// in device pixels of A's window.
    CurveClicked(Option<u32>, f64),
    /// A device to compare with the shown one was chosen. Holds its ordinal.
    DeviceChosen(i64),
    AtChosen(ComparedAt),
    KeyChosen(Option<MatchKey>),
    AlignChosen(Option<Align>),
    PathsTyped(String),
}
