//! Decoding of table sections. Each row refers only to earlier rows.

mod rows;

use super::depths::Depths;
use super::events::EventDecoder;
use super::format::{MAX_ROWS, section_kind};
use super::numbers::NumberReader;
use crate::recorder::{RecorderData, ValueTree, parse_recorder};
use crate::snapshot::{Devices, EndState, Rows, Snapshot};
use base::column::Column;
use base::heap::{self, HeapBytes};

/// Tables of the snapshot as far as they are decoded, and state for validating the next sections.
pub(super) struct Tables {
    pub(super) snapshot: Snapshot,
    recorder: ValueTree,
    pub(super) format: String,
    /// Id in the snapshot's string table for each string in the file.
    strings: Column<u32>,
    /// Depths of the nodes in the stack tree, and in the tree of traceback lines.
    depths: [Depths; 2],
    devices: Devices,
    /// One past the last row of the block table that belongs to a segment so far.
    blocks_taken: u32,
    warnings: u32,
}

impl Default for Tables {
    fn default() -> Tables {
        let snapshot = Snapshot {
            strings: Default::default(),
            frames: Default::default(),
            stacks: Default::default(),
            labels: Default::default(),
            lines: Default::default(),
            segments: Vec::new(),
            blocks: Vec::new(),
            marks: Vec::new(),
            traces: Vec::new(),
            settings: Vec::new(),
            recorder: RecorderData::default(),
            steps: Vec::new(),
            torch: None,
            end: EndState::Unknown,
            warnings: Default::default(),
        };
        let (format, recorder, strings, depths, devices) = Default::default();
        Tables { snapshot, recorder, format, strings, depths, devices, blocks_taken: 0, warnings: 0 }
    }
}

impl Tables {
    /// Decodes a table section of kind `what`. Returns `false` if it is invalid.
    pub(super) fn read(&mut self, what: u8, mut numbers: NumberReader<'_>) -> bool {
        let rows = numbers.unsigned();
        // Each row takes at least one byte.
        if rows > MAX_ROWS as u64 || rows > numbers.bytes_left() as u64 {
            return false;
        }
        let rows = rows as usize;
        match what {
            section_kind::STRINGS => {
                let Some([mut lengths, mut bytes]) = numbers.columns() else { return false };
                for _ in 0..rows {
                    let Some(id) = self.snapshot.strings.intern(bytes.bytes(lengths.unsigned())) else { return false };
                    self.strings.push(id.0);
                }
                lengths.is_finished() && bytes.is_finished()
            }
            section_kind::FRAMES => self.frames(rows, numbers),
            section_kind::STACKS => self.nodes(rows, numbers, StackElement::Frames),
            section_kind::LINES => self.nodes(rows, numbers, StackElement::Lines),
            section_kind::BLOCKS => self.blocks(rows, numbers),
            section_kind::LABELS => self.each(rows, numbers, Tables::labels),
            section_kind::SEGMENTS => {
                let mut end = 0;
                self.each(rows, numbers, |tables, numbers| tables.segment(numbers, &mut end))
            }
            section_kind::MARKS => {
                let mut time_us = 0;
                self.each(rows, numbers, |tables, numbers| tables.mark(numbers, &mut time_us))
            }
            section_kind::SETTINGS => self.each(rows, numbers, Tables::setting),
            section_kind::WARNINGS => self.each(rows, numbers, Tables::warning),
            section_kind::FILE_INFO => self.each(rows, numbers, Tables::file_info),
            section_kind::RECORDED => {
                let Some([mut bytes]) = numbers.columns() else { return false };
                let length = bytes.bytes_left() as u64;
                self.recorder.extend(bytes.bytes(length))
            }
            _ => false,
        }
    }

    /// Calls `row` for each row of a section whose rows are stored one after another, not as columns. Returns `false`
    /// if the section is invalid.
    fn each(
        &mut self,
        rows: usize,
        mut numbers: NumberReader<'_>,
        mut row: impl FnMut(&mut Tables, &mut NumberReader<'_>),
    ) -> bool {
        for _ in 0..rows {
            row(self, &mut numbers);
            if !numbers.is_sound() {
                return false;
            }
        }
        numbers.is_finished()
    }

    /// Returns the snapshot after all sections were read.
    pub(super) fn into_snapshot(self) -> Snapshot {
        let mut snapshot = self.snapshot;
        snapshot.recorder = parse_recorder(self.recorder);
        snapshot.name_steps();
        snapshot
    }

    /// Returns the number of rows in each table that histories refer to.
    pub(super) fn rows(&self) -> Rows {
        let Snapshot { stacks, labels, blocks, .. } = &self.snapshot;
        Rows { stacks: stacks.len(), labels: labels.len(), blocks: blocks.len() }
    }

    /// Returns whether the tables contain all rows that the events refer to.
    pub(super) fn is_complete(&self, events: &EventDecoder) -> bool {
        let Snapshot { stacks, labels, traces, .. } = &self.snapshot;
        events.stacks as usize <= stacks.len()
            && events.labels as usize <= labels.len()
            && events.traces as usize <= traces.len()
    }

    /// Returns the heap size of each table, in bytes.
    pub(super) fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let mut bytes = self.snapshot.heap_bytes();
        bytes.push(("numbers of strings, depths", self.strings.heap_bytes() + heap::sum(&self.depths)));
        bytes.push(("the recorder's key", self.recorder.heap_bytes()));
        bytes
    }
}

/// Elements of a stack tree: frames, or lines of a traceback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StackElement {
    Frames,
    Lines,
}
