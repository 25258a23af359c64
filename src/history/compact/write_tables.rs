//! Encoding of table sections.

use super::depths::Depths;
use super::error::Unwritable;
use super::form::{FULL, HAS_ADDRESS, HAS_POOL, HAS_STREAM, IS_EXPANDABLE, IS_SMALL, MOST_ROWS, NOUNS, oddity, what};
use super::numbers::{put, put_difference, put_signed};
use super::writer::{Writer, put_columns};
use crate::snapshot::{Block, End, FrameId, Labels, Segment, Snapshot, StackId, Stacks, StringId, WarningKind};
use std::io::Write;

/// Number of each string in the columns, which contain only strings that a table refers to.
struct Numbers(Vec<u32>);

impl Numbers {
    /// Numbers all strings that a table refers to, in the order of their ids.
    fn of(snapshot: &Snapshot) -> (Numbers, Vec<StringId>) {
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
            texts(labels).into_iter().flatten().for_each(&mut uses);
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
        (Numbers(numbers), used)
    }

    fn number(&self, id: StringId) -> u64 {
        self.0.get(id.0 as usize).copied().map_or(0, u64::from)
    }

    fn put(&self, bytes: &mut Vec<u8>, id: StringId) {
        put(bytes, u128::from(self.number(id)));
    }
}

fn texts(labels: &Labels) -> [Option<StringId>; 4] {
    [labels.compile_context, labels.user_metadata, labels.internal_metadata, labels.category]
}

impl<W: Write> Writer<W> {
    /// Writes the tables and the end of the file. `devices` holds the device of each trace, `format` describes the
    /// original file.
    ///
    /// # Errors
    /// The output could not be written, or columns cannot represent part of the snapshot.
    pub fn finish(mut self, snapshot: &Snapshot, devices: &[i64], format: &str) -> Result<W, Unwritable> {
        self.end_trace()?;
        let (numbers, used) = Numbers::of(snapshot);
        self.strings(snapshot, &used)?;
        self.frames(snapshot, &numbers)?;
        self.nodes(what::STACKS, &snapshot.stacks, |frame| u64::from(frame.0))?;
        self.nodes(what::LINES, &snapshot.lines, |line| numbers.number(StringId(line.0)))?;
        for rows in snapshot.labels.rows().chunks(MOST_ROWS) {
            self.rows(what::LABELS, rows, |bytes, labels| put_labels(bytes, labels, &numbers))?;
        }
        for blocks in snapshot.blocks.chunks(MOST_ROWS) {
            self.blocks(blocks)?;
        }
        self.segments(snapshot)?;
        for marks in snapshot.marks.chunks(MOST_ROWS) {
            let mut before = 0i64;
            self.rows(what::MARKS, marks, |bytes, mark| {
                bytes.push(u8::from(mark.start));
                put_signed(bytes, i128::from(mark.device));
                numbers.put(bytes, mark.name);
                put_signed(bytes, i128::from(mark.time_us.wrapping_sub(before)));
                before = mark.time_us;
            })?;
        }
        self.rows(what::SETTINGS, &snapshot.settings, |bytes, (key, value)| {
            put_text(bytes, key);
            put_text(bytes, value);
        })?;
        self.warnings(snapshot)?;
        for part in snapshot.recorder.tree.bytes().chunks(FULL) {
            self.table(what::RECORDED, 1, &[part.to_vec()])?;
        }
        self.rows(what::ABOUT, &[()], |bytes, ()| {
            put_text(bytes, format);
            put_text(bytes, snapshot.torch.map_or("", |(_, key)| key));
            bytes.push(u8::from(snapshot.end == End::Recorded));
            put(bytes, devices.len() as u128);
            devices.iter().for_each(|&device| put_signed(bytes, i128::from(device)));
        })?;
        self.into_out()
    }

    /// Writes a section of rows that are stored one after another.
    fn rows<T>(&mut self, what: u8, rows: &[T], mut row: impl FnMut(&mut Vec<u8>, &T)) -> Result<(), Unwritable> {
        let mut payload = Vec::new();
        put(&mut payload, rows.len() as u128);
        rows.iter().for_each(|it| row(&mut payload, it));
        self.section(what, &payload)
    }

    /// Writes a section of columns.
    fn table(&mut self, what: u8, rows: usize, columns: &[Vec<u8>]) -> Result<(), Unwritable> {
        let mut payload = Vec::new();
        put(&mut payload, rows as u128);
        put_columns(&mut payload, columns);
        self.section(what, &payload)
    }

    fn strings(&mut self, snapshot: &Snapshot, used: &[StringId]) -> Result<(), Unwritable> {
        let (mut rows, mut columns) = (0, [Vec::new(), Vec::new()]);
        for (at, &id) in used.iter().enumerate() {
            let [lengths, bytes] = &mut columns;
            let text = snapshot.strings.bytes(id);
            put(lengths, text.len() as u128);
            bytes.extend_from_slice(text);
            rows += 1;
            let next = used.get(at + 1).map_or(FULL, |&next| snapshot.strings.bytes(next).len());
            if rows == MOST_ROWS || bytes.len() + next >= FULL {
                self.table(what::STRINGS, rows, &columns)?;
                (rows, columns) = (0, [Vec::new(), Vec::new()]);
            }
        }
        Ok(())
    }

    fn frames(&mut self, snapshot: &Snapshot, numbers: &Numbers) -> Result<(), Unwritable> {
        let ids: Vec<u32> = (0..snapshot.frames.len() as u32).collect();
        for ids in ids.chunks(MOST_ROWS) {
            let mut columns: [Vec<u8>; 4] = Default::default();
            let [names, filenames, lines, fx] = &mut columns;
            let (mut name, mut filename, mut line) = (0, 0, 0i128);
            for &id in ids {
                let frame = snapshot.frames.frame(FrameId(id));
                put_difference(names, numbers.number(frame.name), name);
                put_difference(filenames, numbers.number(frame.filename), filename);
                put_signed(lines, frame.line.wrapping_sub(line));
                put(fx, frame.fx.len() as u128);
                for &(key, text) in &frame.fx {
                    numbers.put(fx, key);
                    numbers.put(fx, text);
                }
                (name, filename, line) = (numbers.number(frame.name), numbers.number(frame.filename), frame.line);
            }
            self.table(what::FRAMES, ids.len(), &columns)?;
        }
        Ok(())
    }

    fn nodes(&mut self, what: u8, stacks: &Stacks, number: impl Fn(FrameId) -> u64) -> Result<(), Unwritable> {
        let ids: Vec<u32> = (1..stacks.len() as u32).collect();
        let mut depths = Depths::default();
        for ids in ids.chunks(MOST_ROWS) {
            let mut columns: [Vec<u8>; 2] = Default::default();
            let [callers, called] = &mut columns;
            let mut before = 0;
            for &id in ids {
                let Some((caller, frame)) = stacks.innermost(StackId(id)) else { continue };
                if !depths.add(caller.0) {
                    return Err(Unwritable::Unfit("the stacks are too deep"));
                }
                put(callers, u128::from(id - 1 - caller.0));
                put_difference(called, number(frame), before);
                before = number(frame);
            }
            self.table(what, ids.len(), &columns)?;
        }
        Ok(())
    }

    fn blocks(&mut self, blocks: &[Block]) -> Result<(), Unwritable> {
        let mut columns: [Vec<u8>; 5] = Default::default();
        let [addresses, sizes, requested, states, stacks] = &mut columns;
        let mut end = 0;
        for block in blocks {
            put_difference(addresses, block.address, end);
            put(sizes, u128::from(block.size));
            put_difference(requested, block.requested, block.size);
            states.push(block.state as u8);
            put_stack(stacks, block.stack);
            end = block.address.wrapping_add(block.size);
        }
        self.table(what::BLOCKS, blocks.len(), &columns)
    }

    fn segments(&mut self, snapshot: &Snapshot) -> Result<(), Unwritable> {
        // Blocks are normally in file order too, but a pickle's memo can reuse lists in another order.
        let mut taken = 0;
        let is_in_order = snapshot.segments.iter().filter(|segment| !segment.blocks.is_empty()).all(|segment| {
            let begins = segment.blocks.start >= taken;
            taken = segment.blocks.end;
            begins
        });
        if !is_in_order {
            return Err(Unwritable::Unfit("segments and blocks are in different orders"));
        }
        taken = 0;
        for segments in snapshot.segments.chunks(MOST_ROWS) {
            let mut end = 0;
            self.rows(what::SEGMENTS, segments, |bytes, segment| {
                put_segment(bytes, segment, end, &mut taken);
                end = segment.address.unwrap_or(end).wrapping_add(segment.total_size);
            })?;
        }
        Ok(())
    }

    fn warnings(&mut self, snapshot: &Snapshot) -> Result<(), Unwritable> {
        let warnings: Vec<_> = snapshot.warnings.iter().collect();
        let mut is_known = true;
        self.rows(what::WARNINGS, &warnings, |bytes, (kind, count, place)| {
            is_known &= put_warning(bytes, kind);
            put(bytes, u128::from(*count));
            put_text(bytes, place);
        })?;
        if is_known { Ok(()) } else { Err(Unwritable::Unfit("the file has a warning that columns cannot store")) }
    }
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put(bytes, text.len() as u128);
    bytes.extend_from_slice(text.as_bytes());
}

/// Appends a stack as its id plus one, or 0 for none.
fn put_stack(bytes: &mut Vec<u8>, stack: StackId) {
    put(bytes, u128::from(stack.0.wrapping_add(1)));
}

fn put_pool(bytes: &mut Vec<u8>, pool: Option<(u64, u64)>) {
    if let Some((first, second)) = pool {
        put(bytes, u128::from(first));
        put(bytes, u128::from(second));
    }
}

/// Returns `flag` if there is a value, otherwise 0.
fn flag<T>(there: Option<T>, flag: u8) -> u8 {
    there.map_or(0, |_| flag)
}

fn put_labels(bytes: &mut Vec<u8>, labels: &Labels, numbers: &Numbers) {
    bytes.push(flag(labels.stream, HAS_STREAM) | flag(labels.pool, HAS_POOL));
    labels.stream.into_iter().for_each(|stream| put(bytes, u128::from(stream)));
    put_pool(bytes, labels.pool);
    for text in texts(labels) {
        put(bytes, text.map_or(0, |id| u128::from(numbers.number(id)) + 1));
    }
    put(bytes, labels.forward_frames.map_or(0, |lines| u128::from(lines.0) + 1));
}

/// Appends a segment. `end` is the end of the previous segment, `taken` the first block that belongs to no segment yet.
fn put_segment(bytes: &mut Vec<u8>, segment: &Segment, end: u64, taken: &mut u32) {
    let set = |is_so: bool, flag: u8| if is_so { flag } else { 0 };
    bytes.push(
        flag(segment.stream, HAS_STREAM)
            | flag(segment.pool, HAS_POOL)
            | flag(segment.address, HAS_ADDRESS)
            | set(segment.small, IS_SMALL)
            | set(segment.expandable, IS_EXPANDABLE),
    );
    put_signed(bytes, i128::from(segment.device));
    put_difference(bytes, segment.address.unwrap_or(end), end);
    put(bytes, u128::from(segment.total_size));
    segment.stream.into_iter().for_each(|stream| put(bytes, u128::from(stream)));
    put_pool(bytes, segment.pool);
    put_stack(bytes, segment.stack);
    // A segment without blocks can stand anywhere.
    let first = if segment.blocks.is_empty() { *taken } else { segment.blocks.start };
    put(bytes, u128::from(first - *taken));
    put(bytes, segment.blocks.len() as u128);
    *taken = first + segment.blocks.len() as u32;
}

/// Appends a warning. Returns whether columns can represent its kind.
fn put_warning(bytes: &mut Vec<u8>, kind: &WarningKind) -> bool {
    let noun = |what: &str| NOUNS.iter().position(|noun| *noun == what);
    let (number, noun, word) = match kind {
        WarningKind::UnknownKey(of, key) => (oddity::UNKNOWN_KEY, Some(noun(of)), Some(key)),
        WarningKind::UnknownAction(action) => (oddity::UNKNOWN_ACTION, None, Some(action)),
        WarningKind::UnknownState(state) => (oddity::UNKNOWN_STATE, None, Some(state)),
        WarningKind::UnknownStage(stage) => (oddity::UNKNOWN_STAGE, None, Some(stage)),
        WarningKind::NoSegments => (oddity::NO_SEGMENTS, None, None),
        WarningKind::FromADrawing => (oddity::FROM_A_DRAWING, None, None),
        WarningKind::OnePool(pool) => (oddity::ONE_POOL, None, Some(pool)),
        WarningKind::Simulated(settings) => (oddity::SIMULATED, None, Some(settings)),
        WarningKind::BytesBehind(what) => (oddity::BYTES_BEHIND, Some(noun(what)), None),
        // Replaying the history produces these warnings again.
        _ => return false,
    };
    put(bytes, u128::from(number));
    let is_known = noun != Some(None);
    noun.flatten().into_iter().for_each(|noun| bytes.push(noun as u8));
    word.into_iter().for_each(|word| put_text(bytes, word));
    is_known
}
