//! Determines the kind of an archive from its directory. This is done in time slices, because a directory may have
//! thousands of entries.

use super::archive_error::ArchiveError;
use super::snapviewer::{DRAWING, ELEMENTS};
use hashbrown::HashMap;
use history::container::zip::{Directory, DirectoryReader, Entry};

/// Number of bytes of the directory that are read in each step. This takes a fraction of a millisecond.
const SLICE: usize = 64 << 10;

/// Maximum number of members that are checked for being snapshots. Archives made by hand have a few dozen members.
const MAX_CANDIDATES: usize = 4096;

/// Scan of an archive's directory in progress.
pub(super) struct Survey {
    bytes: Vec<u8>,
    rows: DirectoryReader,
    members: Vec<Entry>,
    /// SnapViewer members (`allocations.json` or `elements.json`) whose counterpart was not found yet, by folder.
    unpaired: HashMap<String, Entry, foldhash::fast::RandomState>,
    pair: Option<(Entry, Entry)>,
    /// Object of an archive that `torch.save` wrote.
    saved: Option<Entry>,
}

/// Result of one step of the scan.
pub(super) enum SurveyStep {
    Unfinished(Survey),
    SnapViewer(Entry, Entry),
    /// Pickle of the object in an archive that `torch.save` wrote.
    TorchSave(Entry),
    /// Members that may be snapshots, in directory order.
    Members(Vec<Entry>),
}

impl Survey {
    /// Starts the scan. `bytes` is the whole directory.
    pub(super) fn new(directory: Directory, bytes: Vec<u8>) -> Survey {
        let rows = DirectoryReader::new(directory);
        Survey { bytes, rows, members: Vec::new(), unpaired: HashMap::default(), pair: None, saved: None }
    }

    /// Reads the next entries of the directory.
    ///
    /// # Errors
    /// Returns an error if the directory is malformed.
    pub(super) fn step(mut self) -> Result<SurveyStep, ArchiveError> {
        let end = self.rows.bytes_read() + SLICE;
        while self.rows.bytes_read() < end {
            match self.rows.next(&self.bytes)? {
                Some(entry) => self.add_entry(entry),
                None => {
                    return Ok(match (self.saved, self.pair) {
                        (Some(object), _) => SurveyStep::TorchSave(object),
                        (_, Some((drawing, elements))) => SurveyStep::SnapViewer(drawing, elements),
                        _ => SurveyStep::Members(self.members),
                    });
                }
            }
        }
        Ok(SurveyStep::Unfinished(self))
    }

    fn add_entry(&mut self, entry: Entry) {
        if entry.name == "data.pkl" || entry.name.ends_with("/data.pkl") {
            self.saved = Some(entry);
            return;
        }
        for half in [DRAWING, ELEMENTS] {
            let Some(folder) = entry.name.strip_suffix(half).filter(|_| self.pair.is_none()) else { continue };
            match self.unpaired.remove(folder) {
                Some(other) if other.name.ends_with(half) => drop(self.unpaired.insert(folder.to_owned(), other)),
                Some(other) if half == DRAWING => self.pair = Some((entry.clone(), other)),
                Some(other) => self.pair = Some((other, entry.clone())),
                None => drop(self.unpaired.insert(folder.to_owned(), entry.clone())),
            }
        }
        let is_file = !entry.name.ends_with('/') && !entry.name.starts_with("__MACOSX/") && entry.unpacked > 0;
        if is_file && self.members.len() < MAX_CANDIDATES {
            self.members.push(entry);
        }
    }
}
