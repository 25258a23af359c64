//! Encoding of table sections.

use super::depths::Depths;
use super::error::WriteError;
use super::format::{
    FLUSH_BYTES, HAS_ADDRESS, HAS_POOL, HAS_STREAM, IS_EXPANDABLE, IS_SMALL, MAX_ROWS, NOUNS, section_kind,
    warning_code,
};
use super::numbers::{put_difference, put_signed, put_varint};
use super::writer::{Writer, put_columns};
use crate::snapshot::{Block, EndState, FrameId, Labels, Segment, Snapshot, StackId, Stacks, StringId, WarningKind};
use std::io::Write;

/// Index in the file for each string of the snapshot. The file contains only strings that a table refers to.
struct StringNumbers(Vec<u32>);

impl StringNumbers {
    /// Assigns indices to all strings that a table refers to, in order of their ids. Returns the indices, and the ids
    /// in this order.
    fn assign(snapshot: &Snapshot) -> (StringNumbers, Vec<StringId>) {
        let mut is_used = vec![false; snapshot.strings.len()];
        let mut uses = |id: StringId| {
            if let Some(used) = is_used.get_mut(id.0 as usize) {
                *used = true;
            }
        };
        for id in 0..snapshot.frames.len() as u32 {
            let frame = snapshot.frames.frame(FrameId(id));
            [frame.name, frame.filename].into_iter().for_each(&mut uses);
            frame.fx.iter().for_each(|&(key, text)| [key, text].into_iter().for_each(&mut uses));
        }
        for id in 0..snapshot.lines.len() as u32 {
            snapshot.lines.innermost(StackId(id)).into_iter().for_each(|(_, line)| uses(StringId(line.0)));
        }
        for labels in snapshot.labels.rows() {
            label_strings(labels).into_iter().flatten().for_each(&mut uses);
        }
        snapshot.marks.iter().for_each(|mark| uses(mark.name));
        let used: Vec<StringId> =
            (0u32..).zip(&is_used).filter(|(_, used)| **used).map(|(id, _)| StringId(id)).collect();
        let mut numbers = vec![0; is_used.len()];
        for (number, id) in (0u32..).zip(&used) {
            if let Some(place) = numbers.get_mut(id.0 as usize) {
                *place = number;
            }
        }
        (StringNumbers(numbers), used)
    }

    fn number(&self, id: StringId) -> u64 {
        self.0.get(id.0 as usize).copied().map_or(0, u64::from)
    }

    fn put(&self, bytes: &mut Vec<u8>, id: StringId) {
        put_varint(bytes, u128::from(self.number(id)));
    }
}

fn label_strings(labels: &Labels) -> [Option<StringId>; 4] {
    [labels.compile_context, labels.user_metadata, labels.internal_metadata, labels.category]
}

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

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_varint(bytes, text.len() as u128);
    bytes.extend_from_slice(text.as_bytes());
}

/// Appends a stack as its id plus one, or 0 for none.
fn put_stack(bytes: &mut Vec<u8>, stack: StackId) {
    put_varint(bytes, u128::from(stack.0.wrapping_add(1)));
}

fn put_pool(bytes: &mut Vec<u8>, pool: Option<(u64, u64)>) {
    if let Some((first, second)) = pool {
        put_varint(bytes, u128::from(first));
        put_varint(bytes, u128::from(second));
    }
}

/// Returns `flag` if there is a value, otherwise 0.
fn flag_if_some<T>(value: Option<T>, flag: u8) -> u8 {
    value.map_or(0, |_| flag)
}

fn put_labels(bytes: &mut Vec<u8>, labels: &Labels, numbers: &StringNumbers) {
    bytes.push(flag_if_some(labels.stream, HAS_STREAM) | flag_if_some(labels.pool, HAS_POOL));
    labels.stream.into_iter().for_each(|stream| put_varint(bytes, u128::from(stream)));
    put_pool(bytes, labels.pool);
    for text in label_strings(labels) {
        put_varint(bytes, text.map_or(0, |id| u128::from(numbers.number(id)) + 1));
    }
    put_varint(bytes, labels.forward_frames.map_or(0, |lines| u128::from(lines.0) + 1));
}

/// Appends a segment. `end` is the end address of the previous segment. `taken` is the index of the first block that
/// belongs to no segment yet.
fn put_segment(bytes: &mut Vec<u8>, segment: &Segment, end: u64, taken: &mut u32) {
    let set = |conditions_hold: bool, flag: u8| if conditions_hold { flag } else { 0 };
    bytes.push(
        flag_if_some(segment.stream, HAS_STREAM)
            | flag_if_some(segment.pool, HAS_POOL)
            | flag_if_some(segment.address, HAS_ADDRESS)
            | set(segment.small, IS_SMALL)
            | set(segment.expandable, IS_EXPANDABLE),
    );
    put_signed(bytes, i128::from(segment.device));
    put_difference(bytes, segment.address.unwrap_or(end), end);
    put_varint(bytes, u128::from(segment.total_size));
    segment.stream.into_iter().for_each(|stream| put_varint(bytes, u128::from(stream)));
    put_pool(bytes, segment.pool);
    put_stack(bytes, segment.stack);
    // A segment without blocks can stand anywhere.
    let first = if segment.blocks.is_empty() { *taken } else { segment.blocks.start };
    put_varint(bytes, u128::from(first - *taken));
    put_varint(bytes, segment.blocks.len() as u128);
    *taken = first + segment.blocks.len() as u32;
}

/// Appends a warning. Returns `false` if this format cannot represent its kind.
fn put_warning(bytes: &mut Vec<u8>, kind: &WarningKind) -> bool {
    let noun = |what: &str| NOUNS.iter().position(|noun| *noun == what);
    let (number, noun, word) = match kind {
        WarningKind::UnknownKey(of, key) => (warning_code::UNKNOWN_KEY, Some(noun(of)), Some(key)),
        WarningKind::UnknownAction(action) => (warning_code::UNKNOWN_ACTION, None, Some(action)),
        WarningKind::UnknownState(state) => (warning_code::UNKNOWN_STATE, None, Some(state)),
        WarningKind::UnknownStage(stage) => (warning_code::UNKNOWN_STAGE, None, Some(stage)),
        WarningKind::NoSegments => (warning_code::NO_SEGMENTS, None, None),
        WarningKind::FromPlotData => (warning_code::FROM_PLOT_DATA, None, None),
        WarningKind::NoStacks => (warning_code::NO_STACKS, None, None),
        WarningKind::NotRecorded => (warning_code::NOT_RECORDED, None, None),
        WarningKind::EventsOverwritten => (warning_code::EVENTS_OVERWRITTEN, None, None),
        WarningKind::EventsLikelyOverwritten => (warning_code::EVENTS_LIKELY_OVERWRITTEN, None, None),
        WarningKind::FromProfiler(what) => (warning_code::FROM_PROFILER, Some(noun(what)), None),
        WarningKind::SinglePool(pool) => (warning_code::SINGLE_POOL, None, Some(pool)),
        WarningKind::Simulated(settings) => (warning_code::SIMULATED, None, Some(settings)),
        WarningKind::TrailingBytes(what) => (warning_code::TRAILING_BYTES, Some(noun(what)), None),
        // Replaying the history produces these warnings again.
        _ => return false,
    };
    put_varint(bytes, u128::from(number));
    let is_known = noun != Some(None);
    noun.flatten().into_iter().for_each(|noun| bytes.push(noun as u8));
    word.into_iter().for_each(|word| put_text(bytes, word));
    is_known
}
