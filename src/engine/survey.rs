//! What an archive's directory tells before any of its members is looked into, read in slices: it may have many thousand rows.

use super::archive_error::ArchiveError;
use super::snapviewer::{DRAWING, ELEMENTS};
use hashbrown::HashMap;
use history::container::zip::{Directory, Entry, Rows};

/// Bytes of the directory read at a time: a fraction of a millisecond.
const SLICE: usize = 64 << 10;

/// Members that are looked into for a snapshot. What is packed together by hand has some tens.
const MOST_LOOKED_INTO: usize = 4096;

/// A directory on its way in.
pub(super) struct Survey {
    bytes: Vec<u8>,
    rows: Rows,
    members: Vec<Entry>,
    /// Drawings and elements that are still without the other, by their folder.
    halves: HashMap<String, Entry, foldhash::fast::RandomState>,
    pair: Option<(Entry, Entry)>,
}

/// What an archive is, by its directory.
pub(super) enum Surveyed {
    Unsure(Survey),
    SnapViewer(Entry, Entry),
    /// Any: the members that may be snapshots, in the directory's order.
    Members(Vec<Entry>),
}

impl Survey {
    /// `bytes` is the whole directory.
    pub(super) fn new(directory: Directory, bytes: Vec<u8>) -> Survey {
        let rows = Rows::new(directory);
        Survey { bytes, rows, members: Vec::new(), halves: HashMap::default(), pair: None }
    }

    /// Reads some rows.
    pub(super) fn step(mut self) -> Result<Surveyed, ArchiveError> {
        let end = self.rows.read() + SLICE;
        while self.rows.read() < end {
            match self.rows.next(&self.bytes)? {
                Some(entry) => self.see(entry)?,
                None => {
                    return Ok(match self.pair {
                        Some((drawing, elements)) => Surveyed::SnapViewer(drawing, elements),
                        None => Surveyed::Members(self.members),
                    });
                }
            }
        }
        Ok(Surveyed::Unsure(self))
    }

    fn see(&mut self, entry: Entry) -> Result<(), ArchiveError> {
        if entry.name == "data.pkl" || entry.name.ends_with("/data.pkl") {
            return Err(ArchiveError::Checkpoint);
        }
        for half in [DRAWING, ELEMENTS] {
            let Some(folder) = entry.name.strip_suffix(half).filter(|_| self.pair.is_none()) else { continue };
            match self.halves.remove(folder) {
                Some(other) if other.name.ends_with(half) => drop(self.halves.insert(folder.to_owned(), other)),
                Some(other) if half == DRAWING => self.pair = Some((entry.clone(), other)),
                Some(other) => self.pair = Some((other, entry.clone())),
                None => drop(self.halves.insert(folder.to_owned(), entry.clone())),
            }
        }
        let is_file = !entry.name.ends_with('/') && !entry.name.starts_with("__MACOSX/") && entry.unpacked > 0;
        if is_file && self.members.len() < MOST_LOOKED_INTO {
            self.members.push(entry);
        }
        Ok(())
    }
}
