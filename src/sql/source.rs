//! The files that queries run on, and their devices.

use crate::cache::{DeviceCache, FileCache};
use engine::{Engine, OpenedFile, Side};
use history::snapshot::{Snapshot, StackId};
use protocol::FileSummary;

/// An open file whose derived data is complete ([`Engine::complete_side`], [`OpenedFile::prepare`]).
pub trait SideProvider {
    /// Returns the history of a device of the file, by device number.
    fn side_of(&self, device: i64) -> Option<Side<'_>>;
}

impl SideProvider for Engine {
    fn side_of(&self, device: i64) -> Option<Side<'_>> {
        self.side(device)
    }
}

impl SideProvider for OpenedFile {
    fn side_of(&self, device: i64) -> Option<Side<'_>> {
        self.side(device)
    }
}

/// Side (A or B) and rank of a file, which distinguish the files in queries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileLabel {
    /// `A` or `B` in a comparison.
    pub side: Option<&'static str>,
    pub rank: Option<u32>,
}

/// A file with its label and the data derived from it.
pub(crate) struct File {
    holder: Box<dyn SideProvider>,
    pub(crate) summary: FileSummary,
    pub(crate) label: FileLabel,
    /// Number that is added to the stack indices of this file, so that the ids in SQL are unique across files.
    pub(crate) first_stack: i64,
    /// Range of the file's devices in [`Source::parts`].
    pub(crate) parts: std::ops::Range<usize>,
    pub(crate) facts: FileCache,
}

/// A device of a file.
pub(crate) struct SourceDevice {
    pub(crate) file: usize,
    pub(crate) device: i64,
    pub(crate) facts: DeviceCache,
}

/// Position of a row in a source.
pub(crate) struct At<'a> {
    pub(crate) source: &'a Source,
    pub(crate) part: usize,
    pub(crate) side: Side<'a>,
    pub(crate) row: u32,
}

impl At<'_> {
    /// Returns the index of the row's file.
    pub(crate) fn file(&self) -> usize {
        self.source.parts.get(self.part).map_or(0, |part| part.file)
    }

    /// Returns the time of the event before a moment, in µs.
    pub(crate) fn time_before(&self, moment: u32) -> Option<i64> {
        self.side.history.events.times.at(moment.checked_sub(1)?)
    }
}

/// Open files and their devices.
#[derive(Default)]
pub struct Source {
    pub(crate) files: Vec<File>,
    pub(crate) parts: Vec<SourceDevice>,
    stacks: i64,
}

impl Source {
    /// Creates a source with one file.
    pub fn single(summary: FileSummary, holder: Box<dyn SideProvider>) -> Source {
        let mut source = Source::default();
        source.add(FileLabel::default(), summary, holder);
        source
    }

    /// Adds a file. A file without devices has no rows.
    pub fn add(&mut self, label: FileLabel, summary: FileSummary, holder: Box<dyn SideProvider>) {
        let (file, first) = (self.files.len(), self.parts.len());
        let mut stacks = 0;
        for device in &summary.devices {
            let Some(side) = holder.side_of(device.device) else { continue };
            stacks = side.snapshot().stacks.len() as i64;
            self.parts.push(SourceDevice { file, device: device.device, facts: DeviceCache::default() });
        }
        let (parts, first_stack, facts) = (first..self.parts.len(), self.stacks, FileCache::default());
        self.stacks += stacks;
        self.files.push(File { holder, summary, label, first_stack, parts, facts });
    }

    /// Returns the history of the device with this index.
    pub(crate) fn side(&self, part: usize) -> Option<Side<'_>> {
        let part = self.parts.get(part)?;
        self.files.get(part.file)?.holder.side_of(part.device)
    }

    /// Returns the position of a row of the device with this index.
    pub(crate) fn at(&self, part: usize, row: u32) -> Option<At<'_>> {
        Some(At { source: self, part, side: self.side(part)?, row })
    }

    /// Returns the file that contains the device with this index.
    pub(crate) fn file_of(&self, part: usize) -> Option<&File> {
        self.files.get(self.parts.get(part)?.file)
    }

    /// Returns the snapshot of the file with this index.
    pub(crate) fn snapshot(&self, file: usize) -> Option<&Snapshot> {
        let first = self.files.get(file)?.parts.start;
        self.side(first).map(|side| side.snapshot())
    }

    /// Returns the file index and the stack that a stack id in SQL refers to.
    pub(crate) fn stack(&self, number: i64) -> Option<(usize, StackId)> {
        let at = self.files.partition_point(|file| file.first_stack <= number).checked_sub(1)?;
        let stack_id = u32::try_from(number - self.files.get(at)?.first_stack).ok()?;
        ((stack_id as usize) < self.snapshot(at)?.stacks.len()).then_some((at, StackId(stack_id)))
    }

    /// Returns whether any file has a side, and whether any file has a rank.
    pub(crate) fn has_labels(&self) -> [bool; 2] {
        let has = |is: fn(&FileLabel) -> bool| self.files.iter().any(|file| is(&file.label));
        [has(|label| label.side.is_some()), has(|label| label.rank.is_some())]
    }
}
