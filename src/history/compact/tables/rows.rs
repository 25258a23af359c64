//! Decoding of the rows of each table section.

use super::{StackElement, Tables};
use crate::compact::events::MAX_TRACES;
use crate::compact::format::{HAS_ADDRESS, HAS_POOL, HAS_STREAM, IS_EXPANDABLE, IS_SMALL, NOUNS, warning_code};
use crate::compact::numbers::NumberReader;
use crate::snapshot::{
    AnnotationMark, Block, BlockState, EndState, Frame, FrameId, Labels, LabelsId, MAX_SETTINGS, Segment, StackId,
    StringId, WarningKind, torch_version_with,
};

/// Maximum number of warnings in a file. Decoders produce fewer: one for each of at most a hundred unknown keys and
/// values, and a few others.
const MAX_WARNINGS: u32 = 256;

impl Tables {
    pub(super) fn frames(&mut self, rows: usize, numbers: NumberReader<'_>) -> bool {
        let Some([mut names, mut filenames, mut lines, mut fx]) = numbers.columns() else { return false };
        let (mut name, mut filename, mut line) = (0, 0, 0i128);
        for row in self.snapshot.frames.len()..self.snapshot.frames.len() + rows {
            name = names.difference(name);
            filename = filenames.difference(filename);
            line = line.wrapping_add(lines.signed_128());
            let count = fx.unsigned().min(fx.bytes_left() as u64);
            let fx_fields = (0..count).map(|_| (self.string(&mut fx), self.string(&mut fx))).collect();
            let frame = Frame {
                name: self.string_at(name, &mut names),
                filename: self.string_at(filename, &mut filenames),
                line,
                fx: fx_fields,
            };
            let id = self.snapshot.frames.push(frame);
            if !(fx.is_sound() && names.is_sound() && filenames.is_sound()) || id != Some(FrameId(row as u32)) {
                return false;
            }
        }
        [names, filenames, lines, fx].iter().all(NumberReader::is_finished)
    }

    /// Decodes nodes of a stack tree. Each node is stored as the distance to its parent's row, and the id of its frame
    /// or line. Returns `false` if a node is invalid.
    pub(super) fn nodes(&mut self, rows: usize, numbers: NumberReader<'_>, element: StackElement) -> bool {
        let Some([mut callers, mut called]) = numbers.columns() else { return false };
        let mut before = 0;
        for _ in 0..rows {
            before = called.difference(before);
            let Tables { snapshot, strings, depths, .. } = self;
            let known = match element {
                StackElement::Frames => {
                    u32::try_from(before).ok().filter(|&frame| (frame as usize) < snapshot.frames.len())
                }
                StackElement::Lines => usize::try_from(before).ok().and_then(|line| strings.get(line)),
            };
            let (stacks, depths) = match (element, &mut *depths) {
                (StackElement::Frames, [depths, _]) => (&mut snapshot.stacks, depths),
                (StackElement::Lines, [_, depths]) => (&mut snapshot.lines, depths),
            };
            // The root always exists.
            let next = stacks.len() as u32;
            let caller = (next - 1).checked_sub(callers.unsigned_32()).filter(|&caller| depths.add(caller));
            let node = caller.zip(known).and_then(|(caller, known)| stacks.push(caller, known));
            if node != Some(next) {
                return false;
            }
        }
        callers.is_finished() && called.is_finished()
    }

    pub(super) fn blocks(&mut self, rows: usize, numbers: NumberReader<'_>) -> bool {
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
                    1 => BlockState::AwaitingFree,
                    _ => BlockState::Inactive,
                },
                stack: self.stack(&mut stacks),
            };
            requested.require(block.requested <= i64::MAX as u64);
            end = block.address.wrapping_add(size);
            self.snapshot.blocks.push(block);
        }
        [addresses, sizes, requested, states, stacks].iter().all(NumberReader::is_finished)
    }

    pub(super) fn labels(&mut self, numbers: &mut NumberReader<'_>) {
        let flags = numbers.byte();
        let stream = (flags & HAS_STREAM != 0).then(|| numbers.unsigned());
        let pool = (flags & HAS_POOL != 0).then(|| (numbers.unsigned(), numbers.unsigned()));
        let [compile_context, user_metadata, internal_metadata, category] =
            [(); 4].map(|()| self.optional_string(numbers));
        let forward_frames = numbers.unsigned_32().checked_sub(1).map(StackId);
        numbers.require(forward_frames.is_none_or(|lines| (lines.0 as usize) < self.snapshot.lines.len()));
        let labels =
            Labels { stream, pool, compile_context, user_metadata, internal_metadata, category, forward_frames };
        let next = LabelsId(self.snapshot.labels.len() as u32);
        numbers.require(self.snapshot.labels.push(labels) == Some(next));
    }

    pub(super) fn segment(&mut self, numbers: &mut NumberReader<'_>, end: &mut u64) {
        let flags = numbers.byte();
        let device = numbers.signed();
        let address = numbers.difference(*end);
        let total_size = numbers.size();
        *end = address.wrapping_add(total_size);
        let stream = (flags & HAS_STREAM != 0).then(|| numbers.unsigned());
        let pool = (flags & HAS_POOL != 0).then(|| (numbers.unsigned(), numbers.unsigned()));
        let stack = self.stack(numbers);
        // Each block belongs to one segment. Blocks before the first one are skipped.
        let first = self.blocks_taken.checked_add(numbers.unsigned_32());
        let last = first.and_then(|first| first.checked_add(numbers.unsigned_32()));
        let last = last.filter(|&last| last as usize <= self.snapshot.blocks.len());
        let (Some(first), Some(last)) = (first, last) else { return numbers.reject() };
        self.blocks_taken = last;
        numbers.require(first == last || self.devices.admit(device));
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

    pub(super) fn mark(&mut self, numbers: &mut NumberReader<'_>, time_us: &mut i64) {
        let start = numbers.byte() != 0;
        let device = numbers.signed();
        let name = self.string(numbers);
        *time_us = time_us.wrapping_add(numbers.signed());
        self.snapshot.marks.push(AnnotationMark { device, start, name, time_us: *time_us });
    }

    pub(super) fn setting(&mut self, numbers: &mut NumberReader<'_>) {
        // One more than the maximum is kept, which shows that some are missing.
        numbers.require(self.snapshot.settings.len() <= MAX_SETTINGS);
        self.snapshot.settings.push((text(numbers), text(numbers)));
    }

    pub(super) fn warning(&mut self, numbers: &mut NumberReader<'_>) {
        self.warnings += 1;
        numbers.require(self.warnings <= MAX_WARNINGS);
        let kind = match numbers.unsigned() {
            warning_code::UNKNOWN_KEY => WarningKind::UnknownKey(noun(numbers), text(numbers)),
            warning_code::UNKNOWN_ACTION => WarningKind::UnknownAction(text(numbers)),
            warning_code::UNKNOWN_STATE => WarningKind::UnknownState(text(numbers)),
            warning_code::NO_SEGMENTS => WarningKind::NoSegments,
            warning_code::FROM_PLOT_DATA => WarningKind::FromPlotData,
            warning_code::TRAILING_BYTES => WarningKind::TrailingBytes(noun(numbers)),
            warning_code::SINGLE_POOL => WarningKind::SinglePool(text(numbers)),
            warning_code::SIMULATED => WarningKind::Simulated(text(numbers)),
            warning_code::NO_STACKS => WarningKind::NoStacks,
            warning_code::NOT_RECORDED => WarningKind::NotRecorded,
            warning_code::EVENTS_OVERWRITTEN => WarningKind::EventsOverwritten,
            warning_code::EVENTS_LIKELY_OVERWRITTEN => WarningKind::EventsLikelyOverwritten,
            warning_code::FROM_PROFILER => WarningKind::FromProfiler(noun(numbers)),
            warning_code::UNKNOWN_STAGE => WarningKind::UnknownStage(text(numbers)),
            _ => return numbers.reject(),
        };
        let count = numbers.size();
        let place = text(numbers);
        self.snapshot.warnings.add(kind, count, || place);
    }

    /// Decodes the file information: format of the original file, key that determines the PyTorch version, presence of
    /// the state at the end, and device of each trace.
    pub(super) fn file_info(&mut self, numbers: &mut NumberReader<'_>) {
        numbers.require(self.format.is_empty() && self.snapshot.traces.is_empty());
        self.format = text(numbers);
        let key = text(numbers);
        self.snapshot.torch = torch_version_with(&key);
        numbers.require(self.snapshot.torch.is_some() || key.is_empty());
        self.snapshot.end = if numbers.byte() != 0 { EndState::Recorded } else { EndState::Unknown };
        let traces = numbers.unsigned().min(numbers.bytes_left() as u64) as u32;
        numbers.require(traces <= MAX_TRACES);
        for trace in 0..traces {
            let device = numbers.signed();
            numbers.require(self.devices.admit(device));
            self.snapshot.traces.push((device, trace));
        }
    }

    fn string_at(&self, number: u64, numbers: &mut NumberReader<'_>) -> StringId {
        let id = usize::try_from(number).ok().and_then(|number| self.strings.get(number));
        numbers.require(id.is_some());
        StringId(id.unwrap_or(0))
    }

    fn string(&self, numbers: &mut NumberReader<'_>) -> StringId {
        let number = numbers.unsigned();
        self.string_at(number, numbers)
    }

    fn optional_string(&self, numbers: &mut NumberReader<'_>) -> Option<StringId> {
        let number = numbers.unsigned().checked_sub(1)?;
        Some(self.string_at(number, numbers))
    }

    /// Decodes a stack, stored as its id plus one. 0 means no stack.
    fn stack(&self, numbers: &mut NumberReader<'_>) -> StackId {
        let Some(stack) = numbers.unsigned_32().checked_sub(1) else { return StackId::NONE };
        numbers.require((stack as usize) < self.snapshot.stacks.len());
        StackId(stack)
    }
}

fn text(numbers: &mut NumberReader<'_>) -> String {
    let length = numbers.unsigned();
    let text = std::str::from_utf8(numbers.bytes(length));
    numbers.require(text.is_ok());
    text.unwrap_or_default().to_owned()
}

fn noun(numbers: &mut NumberReader<'_>) -> &'static str {
    let noun = NOUNS.get(usize::from(numbers.byte())).copied();
    numbers.require(noun.is_some());
    noun.unwrap_or_default()
}
