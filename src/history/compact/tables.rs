//! Decoding of table sections. Each row refers only to earlier rows.

use super::depths::Depths;
use super::events::Events;
use super::form::{HAS_ADDRESS, HAS_POOL, HAS_STREAM, IS_EXPANDABLE, IS_SMALL, MOST_ROWS, NOUNS, oddity, what};
use super::numbers::Numbers;
use crate::recorder::{Recorded, Tree, read};
use crate::snapshot::{
    AnnotationMark, Block, BlockState, Devices, End, Frame, FrameId, Labels, LabelsId, MOST_SETTINGS, Rows, Segment,
    Snapshot, StackId, StringId, WarningKind, torch_with,
};
use base::column::Column;

/// Maximum number of warnings in a file. A decoder lists a hundred unknown words and little else.
const MOST_WARNINGS: u32 = 256;

/// Tables decoded so far.
pub(super) struct Tables {
    pub(super) snapshot: Snapshot,
    recorder: Tree,
    pub(super) format: String,
    /// Id of each string of the columns in the snapshot's string table.
    strings: Column<u32>,
    /// Depths of stack nodes, and of line nodes.
    depths: [Depths; 2],
    devices: Devices,
    /// Number of blocks that belong to the segments so far.
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
            recorder: Recorded::default(),
            steps: Vec::new(),
            torch: None,
            end: End::Unknown,
            warnings: Default::default(),
        };
        let (format, recorder, strings, depths, devices) = Default::default();
        Tables { snapshot, recorder, format, strings, depths, devices, blocks_taken: 0, warnings: 0 }
    }
}

impl Tables {
    /// Decodes a section. Returns `false` if it is invalid.
    pub(super) fn read(&mut self, what: u8, mut numbers: Numbers<'_>) -> bool {
        let rows = numbers.number();
        // Each row takes at least one byte.
        if rows > MOST_ROWS as u64 || rows > numbers.left() as u64 {
            return false;
        }
        let rows = rows as usize;
        match what {
            what::STRINGS => {
                let Some([mut lengths, mut bytes]) = numbers.columns() else { return false };
                for _ in 0..rows {
                    let Some(id) = self.snapshot.strings.intern(bytes.bytes(lengths.number())) else { return false };
                    self.strings.push(id.0);
                }
                lengths.is_over() && bytes.is_over()
            }
            what::FRAMES => self.frames(rows, numbers),
            what::STACKS => self.nodes(rows, numbers, Of::Frames),
            what::LINES => self.nodes(rows, numbers, Of::Lines),
            what::BLOCKS => self.blocks(rows, numbers),
            what::LABELS => self.each(rows, numbers, Tables::labels),
            what::SEGMENTS => {
                let mut end = 0;
                self.each(rows, numbers, |tables, numbers| tables.segment(numbers, &mut end))
            }
            what::MARKS => {
                let mut time_us = 0;
                self.each(rows, numbers, |tables, numbers| tables.mark(numbers, &mut time_us))
            }
            what::SETTINGS => self.each(rows, numbers, Tables::setting),
            what::WARNINGS => self.each(rows, numbers, Tables::warning),
            what::ABOUT => self.each(rows, numbers, Tables::about),
            what::RECORDED => {
                let Some([mut bytes]) = numbers.columns() else { return false };
                let length = bytes.left() as u64;
                self.recorder.extend(bytes.bytes(length))
            }
            _ => false,
        }
    }

    /// Decodes rows that are stored one after another.
    fn each(
        &mut self,
        rows: usize,
        mut numbers: Numbers<'_>,
        mut row: impl FnMut(&mut Tables, &mut Numbers<'_>),
    ) -> bool {
        for _ in 0..rows {
            row(self, &mut numbers);
            if !numbers.is_sound() {
                return false;
            }
        }
        numbers.is_over()
    }

    fn frames(&mut self, rows: usize, numbers: Numbers<'_>) -> bool {
        let Some([mut names, mut filenames, mut lines, mut fx]) = numbers.columns() else { return false };
        let (mut name, mut filename, mut line) = (0, 0, 0i128);
        for at in self.snapshot.frames.len()..self.snapshot.frames.len() + rows {
            name = names.difference(name);
            filename = filenames.difference(filename);
            line = line.wrapping_add(lines.wide());
            let count = fx.number().min(fx.left() as u64);
            let fx_fields = (0..count).map(|_| (self.string(&mut fx), self.string(&mut fx))).collect();
            let frame = Frame {
                name: self.string_at(name, &mut names),
                filename: self.string_at(filename, &mut filenames),
                line,
                fx: fx_fields,
            };
            let id = self.snapshot.frames.intern(frame);
            if !(fx.is_sound() && names.is_sound() && filenames.is_sound()) || id != Some(FrameId(at as u32)) {
                return false;
            }
        }
        [names, filenames, lines, fx].iter().all(Numbers::is_over)
    }

    /// Decodes stacks as a tree: for each node the distance to its caller's row, and the called frame or line.
    fn nodes(&mut self, rows: usize, numbers: Numbers<'_>, of: Of) -> bool {
        let Some([mut callers, mut called]) = numbers.columns() else { return false };
        let mut before = 0;
        for _ in 0..rows {
            before = called.difference(before);
            let Tables { snapshot, strings, depths, .. } = self;
            let known = match of {
                Of::Frames => u32::try_from(before).ok().filter(|&frame| (frame as usize) < snapshot.frames.len()),
                Of::Lines => usize::try_from(before).ok().and_then(|line| strings.get(line)),
            };
            let (stacks, depths) = match (of, &mut *depths) {
                (Of::Frames, [depths, _]) => (&mut snapshot.stacks, depths),
                (Of::Lines, [_, depths]) => (&mut snapshot.lines, depths),
            };
            // The root always exists.
            let next = stacks.len() as u32;
            let caller = (next - 1).checked_sub(callers.word()).filter(|&caller| depths.add(caller));
            let node = caller.zip(known).and_then(|(caller, known)| stacks.child(caller, known));
            if node != Some(next) {
                return false;
            }
        }
        callers.is_over() && called.is_over()
    }

    fn blocks(&mut self, rows: usize, numbers: Numbers<'_>) -> bool {
        let Some([mut addresses, mut sizes, mut requested, mut states, mut stacks]) = numbers.columns() else {
            return false;
        };
        let mut end = 0;
        for _ in 0..rows {
            let size = sizes.size();
            let block = Block {
                address: addresses.difference(end),
                size,
                requested: requested.difference(size),
                state: match states.byte() {
                    0 => BlockState::Allocated,
                    1 => BlockState::Pending,
                    _ => BlockState::Inactive,
                },
                stack: self.stack(&mut stacks),
            };
            requested.expect(block.requested <= i64::MAX as u64);
            end = block.address.wrapping_add(size);
            self.snapshot.blocks.push(block);
        }
        [addresses, sizes, requested, states, stacks].iter().all(Numbers::is_over)
    }

    fn labels(&mut self, numbers: &mut Numbers<'_>) {
        let flags = numbers.byte();
        let stream = (flags & HAS_STREAM != 0).then(|| numbers.number());
        let pool = (flags & HAS_POOL != 0).then(|| (numbers.number(), numbers.number()));
        let [compile_context, user_metadata, internal_metadata, category] = [(); 4].map(|()| self.some_string(numbers));
        let forward_frames = numbers.word().checked_sub(1).map(StackId);
        numbers.expect(forward_frames.is_none_or(|lines| (lines.0 as usize) < self.snapshot.lines.len()));
        let labels =
            Labels { stream, pool, compile_context, user_metadata, internal_metadata, category, forward_frames };
        let next = LabelsId(self.snapshot.labels.len() as u32);
        numbers.expect(self.snapshot.labels.intern(labels) == Some(next));
    }

    fn segment(&mut self, numbers: &mut Numbers<'_>, end: &mut u64) {
        let flags = numbers.byte();
        let device = numbers.signed();
        let address = numbers.difference(*end);
        let total_size = numbers.size();
        *end = address.wrapping_add(total_size);
        let stream = (flags & HAS_STREAM != 0).then(|| numbers.number());
        let pool = (flags & HAS_POOL != 0).then(|| (numbers.number(), numbers.number()));
        let stack = self.stack(numbers);
        // Each block belongs to one segment. Blocks before the first one are skipped.
        let first = self.blocks_taken.checked_add(numbers.word());
        let last = first.and_then(|first| first.checked_add(numbers.word()));
        let last = last.filter(|&last| last as usize <= self.snapshot.blocks.len());
        let (Some(first), Some(last)) = (first, last) else { return numbers.reject() };
        self.blocks_taken = last;
        numbers.expect(first == last || self.devices.has_room_for(device));
        self.snapshot.segments.push(Segment {
            device,
            address: (flags & HAS_ADDRESS != 0).then_some(address),
            total_size,
            stream,
            small: flags & IS_SMALL != 0,
            pool,
            expandable: flags & IS_EXPANDABLE != 0,
            stack,
            blocks: first..last,
        });
    }

    fn mark(&mut self, numbers: &mut Numbers<'_>, time_us: &mut i64) {
        let start = numbers.byte() != 0;
        let device = numbers.signed();
        let name = self.string(numbers);
        *time_us = time_us.wrapping_add(numbers.signed());
        self.snapshot.marks.push(AnnotationMark { device, start, name, time_us: *time_us });
    }

    fn setting(&mut self, numbers: &mut Numbers<'_>) {
        // One more than the maximum is kept, which shows that some are missing.
        numbers.expect(self.snapshot.settings.len() <= MOST_SETTINGS);
        self.snapshot.settings.push((text(numbers), text(numbers)));
    }

    fn warning(&mut self, numbers: &mut Numbers<'_>) {
        self.warnings += 1;
        numbers.expect(self.warnings <= MOST_WARNINGS);
        let kind = match numbers.number() {
            oddity::UNKNOWN_KEY => WarningKind::UnknownKey(noun(numbers), text(numbers)),
            oddity::UNKNOWN_ACTION => WarningKind::UnknownAction(text(numbers)),
            oddity::UNKNOWN_STATE => WarningKind::UnknownState(text(numbers)),
            oddity::NO_SEGMENTS => WarningKind::NoSegments,
            oddity::FROM_A_DRAWING => WarningKind::FromADrawing,
            oddity::BYTES_BEHIND => WarningKind::BytesBehind(noun(numbers)),
            oddity::ONE_POOL => WarningKind::OnePool(text(numbers)),
            oddity::SIMULATED => WarningKind::Simulated(text(numbers)),
            oddity::UNKNOWN_STAGE => WarningKind::UnknownStage(text(numbers)),
            _ => return numbers.reject(),
        };
        let count = numbers.size();
        let place = text(numbers);
        self.snapshot.warnings.add(kind, count, || place);
    }

    /// Decodes the remaining facts: description of the original file, PyTorch version, whether the end state is known,
    /// device of each trace.
    fn about(&mut self, numbers: &mut Numbers<'_>) {
        numbers.expect(self.format.is_empty() && self.snapshot.traces.is_empty());
        self.format = text(numbers);
        let key = text(numbers);
        self.snapshot.torch = torch_with(&key);
        numbers.expect(self.snapshot.torch.is_some() || key.is_empty());
        self.snapshot.end = if numbers.byte() != 0 { End::Recorded } else { End::Unknown };
        let traces = numbers.number().min(numbers.left() as u64) as u32;
        numbers.expect(traces <= super::events::MOST_TRACES);
        for trace in 0..traces {
            let device = numbers.signed();
            numbers.expect(self.devices.has_room_for(device));
            self.snapshot.traces.push((device, trace));
        }
    }

    /// Returns the snapshot after all sections were read.
    pub(super) fn into_snapshot(self) -> Snapshot {
        let mut snapshot = self.snapshot;
        snapshot.recorder = read(self.recorder);
        snapshot.name_steps();
        snapshot
    }

    /// Returns the current lengths of the tables that histories refer to.
    pub(super) fn rows(&self) -> Rows {
        let Snapshot { stacks, labels, blocks, .. } = &self.snapshot;
        Rows { stacks: stacks.len(), labels: labels.len(), blocks: blocks.len() }
    }

    /// Returns whether the tables hold everything that the events refer to.
    pub(super) fn is_whole(&self, events: &Events) -> bool {
        let Snapshot { stacks, labels, traces, .. } = &self.snapshot;
        events.stacks as usize <= stacks.len()
            && events.labels as usize <= labels.len()
            && events.traces as usize <= traces.len()
    }

    fn string_at(&self, number: u64, numbers: &mut Numbers<'_>) -> StringId {
        let id = usize::try_from(number).ok().and_then(|number| self.strings.get(number));
        numbers.expect(id.is_some());
        StringId(id.unwrap_or(0))
    }

    fn string(&self, numbers: &mut Numbers<'_>) -> StringId {
        let number = numbers.number();
        self.string_at(number, numbers)
    }

    fn some_string(&self, numbers: &mut Numbers<'_>) -> Option<StringId> {
        let number = numbers.number().checked_sub(1)?;
        Some(self.string_at(number, numbers))
    }

    /// Decodes a stack, stored as its id plus one. 0 means no stack.
    fn stack(&self, numbers: &mut Numbers<'_>) -> StackId {
        let Some(stack) = numbers.word().checked_sub(1) else { return StackId::NONE };
        numbers.expect((stack as usize) < self.snapshot.stacks.len());
        StackId(stack)
    }

    /// Size on the heap by table, in bytes.
    pub(super) fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let mut bytes = self.snapshot.heap_bytes();
        let depths: usize = self.depths.iter().map(Depths::heap_bytes).sum();
        bytes.push(("numbers of strings, depths", self.strings.heap_bytes() + depths));
        bytes.push(("the recorder's key", self.recorder.heap_bytes()));
        bytes
    }
}

/// Elements of a stack tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Frames,
    Lines,
}

fn text(numbers: &mut Numbers<'_>) -> String {
    let length = numbers.number();
    let text = std::str::from_utf8(numbers.bytes(length));
    numbers.expect(text.is_ok());
    text.unwrap_or_default().to_owned()
}

fn noun(numbers: &mut Numbers<'_>) -> &'static str {
    let noun = NOUNS.get(usize::from(numbers.byte())).copied();
    numbers.expect(noun.is_some());
    noun.unwrap_or_default()
}
