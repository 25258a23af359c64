//! Writes a snapshot's strings, frames, stacks, events and settings.

use super::range::PROLOGUE;
use crate::open::OpenFile;
use base::units::EventIdx;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use history::replay::DeviceHistory;
use history::snapshot::{Action, FrameId, Labels, SIMULATED_KEY, StackId, StringId, UNKNOWN_FREE, WarningKind};
use history::writing::ValueWriter;
use std::io;

type MemoIds = HashMap<u32, u32, RandomState>;

/// Part of the output that an event belongs to.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Target {
    /// The trace of a whole file.
    WholeFile,
    /// A range of a file's events.
    Range,
    /// The prologue of a range. Holds the time of the range's first event in µs since 1970, if recorded.
    Prologue(Option<i64>),
}

/// Field values of one event in the output.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventValues {
    pub(super) action: Action,
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) time: Option<i64>,
    pub(super) labels: Labels,
    pub(super) stack: StackId,
}

/// Writer of the tables of a file. It remembers the memo ids of strings, frames and stacks that were already written.
pub(super) struct TableWriter<'a> {
    pub(super) file: &'a OpenFile,
    strings: MemoIds,
    frames: MemoIds,
    stacks: MemoIds,
}

impl<'a> TableWriter<'a> {
    pub(super) fn new(file: &'a OpenFile) -> TableWriter<'a> {
        let (strings, frames, stacks) = Default::default();
        TableWriter { file, strings, frames, stacks }
    }

    pub(super) fn write_string(&mut self, out: &mut dyn ValueWriter, id: StringId) -> io::Result<()> {
        if let Some(&number) = self.strings.get(&id.0) {
            return out.reference(number);
        }
        out.text(self.file.snapshot.strings.bytes(id))?;
        self.strings.extend(out.memoize()?.map(|number| (id.0, number)));
        Ok(())
    }

    fn write_frame(&mut self, out: &mut dyn ValueWriter, id: FrameId) -> io::Result<()> {
        if let Some(&number) = self.frames.get(&id.0) {
            return out.reference(number);
        }
        let frame = self.file.snapshot.frames.frame(id);
        out.dict()?;
        out.key("name")?;
        self.write_string(out, frame.name)?;
        out.key("filename")?;
        self.write_string(out, frame.filename)?;
        out.key("line")?;
        out.int(frame.line)?;
        for (key, text) in &frame.fx {
            self.write_string(out, *key)?;
            self.write_string(out, *text)?;
        }
        out.end_dict()?;
        self.frames.extend(out.memoize()?.map(|number| (id.0, number)));
        Ok(())
    }

    /// Writes the frames of a stack, or an empty list for [`StackId::NONE`]. If the stack was written before, a
    /// reference to it is written instead, provided that the format supports references.
    pub(super) fn write_stack(&mut self, out: &mut dyn ValueWriter, id: StackId) -> io::Result<()> {
        if let Some(&number) = self.stacks.get(&id.0) {
            return out.reference(number);
        }
        let mut items = out.list()?;
        if !matches!(id, StackId::NONE | StackId::EMPTY) {
            for frame in self.file.snapshot.stacks.frames(id) {
                out.item(&mut items)?;
                self.write_frame(out, frame)?;
            }
        }
        out.end_list(items)?;
        self.stacks.extend(out.memoize()?.map(|number| (id.0, number)));
        Ok(())
    }

    /// Writes an event. Events of the prologue get the time of the first event of the range.
    pub(super) fn write_event(
        &mut self,
        out: &mut dyn ValueWriter,
        history: &DeviceHistory,
        event: u32,
        target: Target,
    ) -> io::Result<()> {
        let events = &history.events;
        let (action, stack) = (events.action(event), events.stack(event));
        let (address, size) = history.address_and_size(EventIdx(event));
        let labels = self.file.snapshot.labels.labels(events.labels(event));
        let time = match target {
            Target::Prologue(time) => time,
            _ => events.times.at(event),
        };
        self.write_values(out, &EventValues { action, address, size, time, labels, stack }, target)
    }

    /// Writes an event with the given field values.
    pub(super) fn write_values(
        &mut self,
        out: &mut dyn ValueWriter,
        row: &EventValues,
        target: Target,
    ) -> io::Result<()> {
        out.dict()?;
        out.key("action")?;
        out.key(row.action.name())?;
        if row.action != Action::Oom || row.address != UNKNOWN_FREE {
            out.key(if row.action == Action::Oom { "device_free" } else { "addr" })?;
            out.int(row.address.into())?;
        }
        out.key("size")?;
        out.int(row.size.into())?;
        if let Some(stream) = row.labels.stream {
            out.key("stream")?;
            out.int(stream.into())?;
        }
        if let Some(time) = row.time {
            out.key("time_us")?;
            out.int(time.into())?;
        }
        self.write_labels(out, &row.labels, target)?;
        if row.stack != StackId::NONE {
            out.key("frames")?;
            self.write_stack(out, row.stack)?;
        }
        out.end_dict()
    }

    fn write_labels(&mut self, out: &mut dyn ValueWriter, labels: &Labels, target: Target) -> io::Result<()> {
        let texts = [("compile_context", labels.compile_context), ("user_metadata", labels.user_metadata)];
        for (key, text) in texts {
            if let Some(text) = text {
                out.key(key)?;
                self.write_string(out, text)?;
            }
        }
        match (target, labels.internal_metadata) {
            (Target::Prologue(_), _) => {
                out.key("internal_metadata")?;
                out.key(PROLOGUE)?;
            }
            (_, Some(text)) => {
                out.key("internal_metadata")?;
                self.write_string(out, text)?;
            }
            (_, None) => {}
        }
        // Versions of PyTorch's viewer from before 2026 throw on this key, so crops leave it out.
        if let Some(text) = labels.category.filter(|_| target == Target::WholeFile) {
            out.key("category")?;
            self.write_string(out, text)?;
        }
        if let Some(id) = labels.pool {
            write_pool_id(out, "pool_id", id)?;
        }
        if let Some(lines) = labels.forward_frames {
            out.key("forward_frames")?;
            let mut items = out.list()?;
            for line in self.file.snapshot.lines.frames(lines) {
                out.item(&mut items)?;
                self.write_string(out, StringId(line.0))?;
            }
            out.end_list(items)?;
        }
        Ok(())
    }

    /// Marks the output as simulated if the open file is a simulated run.
    pub(super) fn write_simulated_marker(&mut self, out: &mut dyn ValueWriter) -> io::Result<()> {
        for (kind, _, source) in self.file.snapshot.warnings.iter() {
            let WarningKind::Simulated(settings) = kind else { continue };
            out.key(SIMULATED_KEY)?;
            out.dict()?;
            for (key, text) in [("source", source), ("settings", settings.as_str())] {
                out.key(key)?;
                out.text(text.as_bytes())?;
            }
            out.end_dict()?;
        }
        Ok(())
    }

    /// Writes `allocator_settings`. Settings with dotted keys become nested dicts, as PyTorch writes them.
    pub(super) fn write_settings(&mut self, out: &mut dyn ValueWriter) -> io::Result<()> {
        let settings = &self.file.snapshot.settings;
        if settings.is_empty() {
            return Ok(());
        }
        out.key("allocator_settings")?;
        out.dict()?;
        fn parent(key: &str) -> Option<&str> {
            key.split_once('.').map(|(parent, _)| parent)
        }
        for run in settings.chunk_by(|(key, _), (next, _)| parent(key).is_some() && parent(key) == parent(next)) {
            let Some((first, value)) = run.first() else { continue };
            let Some(parent) = parent(first) else {
                out.text(first.as_bytes())?;
                write_setting(out, value)?;
                continue;
            };
            out.text(parent.as_bytes())?;
            out.dict()?;
            for (key, value) in run {
                out.text(key.split_once('.').map_or("", |(_, key)| key).as_bytes())?;
                write_setting(out, value)?;
            }
            out.end_dict()?;
        }
        out.end_dict()
    }
}

/// Writes `key` and the two parts of a pool id.
pub(super) fn write_pool_id(
    out: &mut dyn ValueWriter,
    key: &'static str,
    (first, second): (u64, u64),
) -> io::Result<()> {
    out.key(key)?;
    out.pair(first.into(), second.into())
}

/// Writes a setting as a Python bool, number or string.
fn write_setting(out: &mut dyn ValueWriter, value: &str) -> io::Result<()> {
    match value {
        "True" => return out.bool(true),
        "False" => return out.bool(false),
        _ => {}
    }
    if let Ok(number) = value.parse::<i64>() {
        return out.int(number.into());
    }
    match value.parse::<f64>() {
        Ok(number) if value.contains('.') => out.float(number),
        _ => out.text(value.as_bytes()),
    }
}
