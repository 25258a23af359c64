//! Encoding of table sections.

mod rows;

use super::depths::Depths;
use super::error::WriteError;
use super::format::{FLUSH_BYTES, MAX_ROWS, section_kind};
use super::numbers::{put_difference, put_signed, put_varint};
use super::writer::{Writer, put_columns};
use crate::snapshot::{Block, EndState, FrameId, Snapshot, StackId, Stacks, StringId};
use rows::{StringNumbers, put_labels, put_segment, put_stack, put_text, put_warning};
use std::io::Write;

impl<W: Write> Writer<W> {
    /// Writes the tables and the end of the file. `devices` contains the device of each trace. `format` describes the
    /// format of the original file.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written, or if this format cannot represent part of the snapshot.
    pub fn finish(mut self, snapshot: &Snapshot, devices: &[i64], format: &str) -> Result<W, WriteError> {
        self.end_trace()?;
        let (numbers, used) = StringNumbers::assign(snapshot);
        self.strings(snapshot, &used)?;
        self.frames(snapshot, &numbers)?;
        self.nodes(section_kind::STACKS, &snapshot.stacks, |frame| u64::from(frame.0))?;
        self.nodes(section_kind::LINES, &snapshot.lines, |line| numbers.number(StringId(line.0)))?;
        for rows in snapshot.labels.rows().chunks(MAX_ROWS) {
            self.rows(section_kind::LABELS, rows, |bytes, labels| put_labels(bytes, labels, &numbers))?;
        }
        for blocks in snapshot.blocks.chunks(MAX_ROWS) {
            self.blocks(blocks)?;
        }
        self.segments(snapshot)?;
        for marks in snapshot.marks.chunks(MAX_ROWS) {
            let mut before = 0i64;
            self.rows(section_kind::MARKS, marks, |bytes, mark| {
                bytes.push(u8::from(mark.start));
                put_signed(bytes, i128::from(mark.device));
                numbers.put(bytes, mark.name);
                put_signed(bytes, i128::from(mark.time_us.wrapping_sub(before)));
                before = mark.time_us;
            })?;
        }
        self.rows(section_kind::SETTINGS, &snapshot.settings, |bytes, (key, value)| {
            put_text(bytes, key);
            put_text(bytes, value);
        })?;
        self.warnings(snapshot)?;
        for part in snapshot.recorder.tree.bytes().chunks(FLUSH_BYTES) {
            self.table(section_kind::RECORDED, 1, &[part.to_vec()])?;
        }
        self.rows(section_kind::FILE_INFO, &[()], |bytes, ()| {
            put_text(bytes, format);
            put_text(bytes, snapshot.torch.map_or("", |(_, key)| key));
            bytes.push(u8::from(snapshot.end == EndState::Recorded));
            put_varint(bytes, devices.len() as u128);
            devices.iter().for_each(|&device| put_signed(bytes, i128::from(device)));
        })?;
        self.into_out()
    }

    /// Writes a section of kind `what` whose rows are stored one after another, not as columns.
    fn rows<T>(&mut self, what: u8, rows: &[T], mut row: impl FnMut(&mut Vec<u8>, &T)) -> Result<(), WriteError> {
        let mut payload = Vec::new();
        put_varint(&mut payload, rows.len() as u128);
        rows.iter().for_each(|item| row(&mut payload, item));
        self.section(what, &payload)
    }

    /// Writes a section of kind `what` with `rows` rows, which are stored as columns.
    fn table(&mut self, what: u8, rows: usize, columns: &[Vec<u8>]) -> Result<(), WriteError> {
        let mut payload = Vec::new();
        put_varint(&mut payload, rows as u128);
        put_columns(&mut payload, columns);
        self.section(what, &payload)
    }

    fn strings(&mut self, snapshot: &Snapshot, used: &[StringId]) -> Result<(), WriteError> {
        let (mut rows, mut columns) = (0, [Vec::new(), Vec::new()]);
        for (index, &id) in used.iter().enumerate() {
            let [lengths, bytes] = &mut columns;
            let text = snapshot.strings.bytes(id);
            put_varint(lengths, text.len() as u128);
            bytes.extend_from_slice(text);
            rows += 1;
            let next = used.get(index + 1).map_or(FLUSH_BYTES, |&next| snapshot.strings.bytes(next).len());
            if rows == MAX_ROWS || bytes.len() + next >= FLUSH_BYTES {
                self.table(section_kind::STRINGS, rows, &columns)?;
                (rows, columns) = (0, [Vec::new(), Vec::new()]);
            }
        }
        Ok(())
    }

    fn frames(&mut self, snapshot: &Snapshot, numbers: &StringNumbers) -> Result<(), WriteError> {
        let ids: Vec<u32> = (0..snapshot.frames.len() as u32).collect();
        for ids in ids.chunks(MAX_ROWS) {
            let mut columns: [Vec<u8>; 4] = Default::default();
            let [names, filenames, lines, fx] = &mut columns;
            let (mut name, mut filename, mut line) = (0, 0, 0i128);
            for &id in ids {
                let frame = snapshot.frames.frame(FrameId(id));
                put_difference(names, numbers.number(frame.name), name);
                put_difference(filenames, numbers.number(frame.filename), filename);
                put_signed(lines, frame.line.wrapping_sub(line));
                put_varint(fx, frame.fx.len() as u128);
                for &(key, text) in &frame.fx {
                    numbers.put(fx, key);
                    numbers.put(fx, text);
                }
                (name, filename, line) = (numbers.number(frame.name), numbers.number(frame.filename), frame.line);
            }
            self.table(section_kind::FRAMES, ids.len(), &columns)?;
        }
        Ok(())
    }

    fn nodes(&mut self, what: u8, stacks: &Stacks, number: impl Fn(FrameId) -> u64) -> Result<(), WriteError> {
        let ids: Vec<u32> = (1..stacks.len() as u32).collect();
        let mut depths = Depths::default();
        for ids in ids.chunks(MAX_ROWS) {
            let mut columns: [Vec<u8>; 2] = Default::default();
            let [callers, called] = &mut columns;
            let mut before = 0;
            for &id in ids {
                let Some((caller, frame)) = stacks.innermost(StackId(id)) else { continue };
                if !depths.add(caller.0) {
                    return Err(WriteError::Unsupported("the stacks are too deep"));
                }
                put_varint(callers, u128::from(id - 1 - caller.0));
                put_difference(called, number(frame), before);
                before = number(frame);
            }
            self.table(what, ids.len(), &columns)?;
        }
        Ok(())
    }

    fn blocks(&mut self, blocks: &[Block]) -> Result<(), WriteError> {
        let mut columns: [Vec<u8>; 5] = Default::default();
        let [addresses, sizes, requested, states, stacks] = &mut columns;
        let mut end = 0;
        for block in blocks {
            put_difference(addresses, block.address, end);
            put_varint(sizes, u128::from(block.size));
            put_difference(requested, block.requested, block.size);
            states.push(block.state as u8);
            put_stack(stacks, block.stack);
            end = block.address.wrapping_add(block.size);
        }
        self.table(section_kind::BLOCKS, blocks.len(), &columns)
    }

    fn segments(&mut self, snapshot: &Snapshot) -> Result<(), WriteError> {
        // Blocks are normally in file order too, but a pickle's memo can reuse lists in another order.
        let mut taken = 0;
        let is_in_order = snapshot.segments.iter().filter(|segment| !segment.blocks.is_empty()).all(|segment| {
            let begins = segment.blocks.start >= taken;
            taken = segment.blocks.end;
            begins
        });
        if !is_in_order {
            return Err(WriteError::Unsupported("segments and blocks are in different orders"));
        }
        taken = 0;
        for segments in snapshot.segments.chunks(MAX_ROWS) {
            let mut end = 0;
            self.rows(section_kind::SEGMENTS, segments, |bytes, segment| {
                put_segment(bytes, segment, end, &mut taken);
                end = segment.address.unwrap_or(end).wrapping_add(segment.total_size);
            })?;
        }
        Ok(())
    }

    fn warnings(&mut self, snapshot: &Snapshot) -> Result<(), WriteError> {
        let warnings: Vec<_> = snapshot.warnings.iter().collect();
        let mut is_known = true;
        self.rows(section_kind::WARNINGS, &warnings, |bytes, (kind, count, place)| {
            is_known &= put_warning(bytes, kind);
            put_varint(bytes, u128::from(*count));
            put_text(bytes, place);
        })?;
        if is_known { Ok(()) } else { Err(WriteError::Unsupported("the file has a warning that columns cannot store")) }
    }
}
