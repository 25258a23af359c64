//! The parts of a cropped snapshot: segments with their blocks, events, annotations, settings.

use super::range::{Crop, PROLOGUE, Range};
use crate::open::OpenFile;
use crate::origin::{is_of_free, stack_of};
use crate::state::DeviceState;
use base::units::EventIdx;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use history::pickle::PickleWriter;
use history::replay::{AllocationId, SegmentLives};
use history::snapshot::{Action, FrameId, Labels, StackId, StringId};
use std::io::{self, Write};

type Numbers = HashMap<u32, u32, RandomState>;

/// What of the file's tables was written already, by the numbers it is remembered with.
pub(super) struct Tables<'a> {
    pub(super) file: &'a OpenFile,
    strings: Numbers,
    frames: Numbers,
    stacks: Numbers,
}

impl<'a> Tables<'a> {
    pub(super) fn new(file: &'a OpenFile) -> Tables<'a> {
        let (strings, frames, stacks) = Default::default();
        Tables { file, strings, frames, stacks }
    }

    fn string<W: Write>(&mut self, pickle: &mut PickleWriter<W>, id: StringId) -> io::Result<()> {
        if let Some(&number) = self.strings.get(&id.0) {
            return pickle.again(number);
        }
        pickle.text(self.file.snapshot.strings.bytes(id))?;
        self.strings.insert(id.0, pickle.remember()?);
        Ok(())
    }

    fn frame<W: Write>(&mut self, pickle: &mut PickleWriter<W>, id: FrameId) -> io::Result<()> {
        if let Some(&number) = self.frames.get(&id.0) {
            return pickle.again(number);
        }
        let frame = self.file.snapshot.frames.frame(id);
        pickle.dict()?;
        pickle.key("name")?;
        self.string(pickle, frame.name)?;
        pickle.key("filename")?;
        self.string(pickle, frame.filename)?;
        pickle.key("line")?;
        pickle.int(frame.line)?;
        for (key, text) in &frame.fx {
            self.string(pickle, *key)?;
            self.string(pickle, *text)?;
        }
        pickle.end_dict()?;
        self.frames.insert(id.0, pickle.remember()?);
        Ok(())
    }

    /// `frames`; of no stack an empty list.
    fn stack<W: Write>(&mut self, pickle: &mut PickleWriter<W>, id: StackId) -> io::Result<()> {
        if let Some(&number) = self.stacks.get(&id.0) {
            return pickle.again(number);
        }
        let mut items = pickle.list()?;
        if !matches!(id, StackId::NONE | StackId::EMPTY) {
            for frame in self.file.snapshot.stacks.frames(id) {
                pickle.item(&mut items)?;
                self.frame(pickle, frame)?;
            }
        }
        pickle.end_list(items)?;
        self.stacks.insert(id.0, pickle.remember()?);
        Ok(())
    }

    /// `segments`: how many there are.
    pub(super) fn segments<W: Write>(
        &mut self,
        pickle: &mut PickleWriter<W>,
        range: &Range<'_>,
        lives: &SegmentLives,
        state: &DeviceState,
    ) -> io::Result<u32> {
        let (snapshot, history) = (&self.file.snapshot, range.history);
        let mut list = pickle.list()?;
        for segment in &state.segments {
            let kind = lives.kinds().get(segment.kind as usize).copied();
            let blocks = state.blocks_of(segment);
            let stack = state.first_range(segment).map_or(StackId::NONE, |id| lives.stack(snapshot, history, id));
            let mut sums = [0u64; 3];
            let is_pending = |id: u32| {
                let pending = self.file.about(history).pending(AllocationId(id));
                pending.is_some_and(|[from, _]| from <= range.to)
            };
            for block in blocks {
                let size = block.to.saturating_sub(block.from);
                sums[0] += if is_pending(block.id) { 0 } else { size };
                sums[1] += size;
                sums[2] = sums[2].saturating_add(history.allocations.size(AllocationId(block.id)));
            }
            pickle.item(&mut list)?;
            pickle.dict()?;
            let numbers = [
                ("device", i128::from(history.device)),
                ("address", segment.address.into()),
                ("total_size", segment.end.saturating_sub(segment.address).into()),
                ("allocated_size", sums[0].into()),
                ("active_size", sums[1].into()),
                ("requested_size", sums[2].into()),
                ("stream", kind.and_then(|kind| kind.stream).unwrap_or(0).into()),
            ];
            for (key, number) in numbers {
                pickle.key(key)?;
                pickle.int(number)?;
            }
            pickle.key("segment_type")?;
            pickle.key(if kind.is_some_and(|kind| kind.small) { "small" } else { "large" })?;
            pool(pickle, "segment_pool_id", kind.and_then(|kind| kind.pool).unwrap_or_default())?;
            pickle.key("is_expandable")?;
            pickle.bool(kind.is_some_and(|kind| kind.expandable))?;
            pickle.key("frames")?;
            self.stack(pickle, stack)?;
            pickle.key("blocks")?;
            let mut items = pickle.list()?;
            let mut until = segment.address;
            for block in blocks {
                self.free(pickle, &mut items, [until, block.from])?;
                until = until.max(block.to);
                let id = AllocationId(block.id);
                let stack = stack_of(snapshot, history, id);
                let stack = if is_of_free(history, id, stack) { StackId::NONE } else { stack };
                let state = if is_pending(block.id) { "active_pending_free" } else { "active_allocated" };
                pickle.item(&mut items)?;
                let bytes = [block.from, block.to.saturating_sub(block.from), history.allocations.size(id)];
                self.block(pickle, bytes, state, stack)?;
            }
            self.free(pickle, &mut items, [until, segment.end])?;
            pickle.end_list(items)?;
            pickle.end_dict()?;
        }
        pickle.end_list(list)?;
        Ok(state.segments.len() as u32)
    }

    /// A free block between two addresses, if there is one.
    fn free<W: Write>(
        &mut self,
        pickle: &mut PickleWriter<W>,
        items: &mut history::pickle::Items,
        [from, to]: [u64; 2],
    ) -> io::Result<()> {
        if from < to {
            pickle.item(items)?;
            self.block(pickle, [from, to - from, 0], "inactive", StackId::NONE)?;
        }
        Ok(())
    }

    fn block<W: Write>(
        &mut self,
        pickle: &mut PickleWriter<W>,
        [address, size, requested]: [u64; 3],
        state: &'static str,
        stack: StackId,
    ) -> io::Result<()> {
        pickle.dict()?;
        for (key, number) in [("address", address), ("size", size), ("requested_size", requested)] {
            pickle.key(key)?;
            pickle.int(number.into())?;
        }
        pickle.key("state")?;
        pickle.key(state)?;
        pickle.key("frames")?;
        self.stack(pickle, stack)?;
        pickle.end_dict()
    }

    /// An event; one of the prologue happens with the first of the range.
    pub(super) fn event<W: Write>(
        &mut self,
        pickle: &mut PickleWriter<W>,
        range: &Range<'_>,
        event: u32,
        is_before: bool,
    ) -> io::Result<()> {
        let events = &range.history.events;
        let (action, stack) = (events.action(event), events.stack(event));
        let (address, size) = range.history.address_and_size(EventIdx(event));
        let labels = self.file.snapshot.labels.labels(events.labels(event));
        let time = if is_before { range.times.map(|[first, _]| first) } else { events.times.at(event) };
        pickle.dict()?;
        pickle.key("action")?;
        pickle.key(action.name())?;
        pickle.key(if action == Action::Oom { "device_free" } else { "addr" })?;
        pickle.int(address.into())?;
        pickle.key("size")?;
        pickle.int(size.into())?;
        if let Some(stream) = labels.stream {
            pickle.key("stream")?;
            pickle.int(stream.into())?;
        }
        if let Some(time) = time {
            pickle.key("time_us")?;
            pickle.int(time.into())?;
        }
        self.labels(pickle, &labels, is_before)?;
        if stack != StackId::NONE {
            pickle.key("frames")?;
            self.stack(pickle, stack)?;
        }
        pickle.end_dict()
    }

    fn labels<W: Write>(&mut self, pickle: &mut PickleWriter<W>, labels: &Labels, is_before: bool) -> io::Result<()> {
        let texts = [("compile_context", labels.compile_context), ("user_metadata", labels.user_metadata)];
        for (key, text) in texts {
            if let Some(text) = text {
                pickle.key(key)?;
                self.string(pickle, text)?;
            }
        }
        match (is_before, labels.internal_metadata) {
            (true, _) => {
                pickle.key("internal_metadata")?;
                pickle.key(PROLOGUE)?;
            }
            (false, Some(text)) => {
                pickle.key("internal_metadata")?;
                self.string(pickle, text)?;
            }
            (false, None) => {}
        }
        if let Some(id) = labels.pool {
            pool(pickle, "pool_id", id)?;
        }
        if let Some(lines) = labels.forward_frames {
            pickle.key("forward_frames")?;
            let mut items = pickle.list()?;
            for line in self.file.snapshot.lines.frames(lines) {
                pickle.item(&mut items)?;
                self.string(pickle, StringId(line.0))?;
            }
            pickle.end_list(items)?;
        }
        Ok(())
    }

    /// Settings, annotations, and where the crop comes from.
    pub(super) fn rest<W: Write>(
        &mut self,
        pickle: &mut PickleWriter<W>,
        range: &Range<'_>,
        crop: &Crop,
    ) -> io::Result<()> {
        self.settings(pickle)?;
        if let Some(times) = range.times.filter(|_| !self.file.snapshot.marks.is_empty()) {
            self.annotations(pickle, range, times)?;
        }
        pickle.key("memscape_crop")?;
        pickle.dict()?;
        pickle.key("source")?;
        pickle.text(crop.source.as_bytes())?;
        let of = range.history.event_count();
        let numbers = [
            ("device", i128::from(crop.device)),
            ("first_event", range.from.into()),
            ("end_event", range.to.into()),
            ("of_events", of.into()),
        ];
        for (key, number) in numbers {
            pickle.key(key)?;
            pickle.int(number)?;
        }
        pickle.key("prologue")?;
        pickle.bool(crop.prologue)?;
        pickle.end_dict()
    }

    /// `allocator_settings`: what stood in a dict has a dotted key here.
    fn settings<W: Write>(&mut self, pickle: &mut PickleWriter<W>) -> io::Result<()> {
        let settings = &self.file.snapshot.settings;
        if settings.is_empty() {
            return Ok(());
        }
        pickle.key("allocator_settings")?;
        pickle.dict()?;
        fn parent(key: &str) -> Option<&str> {
            key.split_once('.').map(|(parent, _)| parent)
        }
        for run in settings.chunk_by(|(one, _), (other, _)| parent(one).is_some() && parent(one) == parent(other)) {
            let Some((first, value)) = run.first() else { continue };
            let Some(parent) = parent(first) else {
                pickle.text(first.as_bytes())?;
                setting(pickle, value)?;
                continue;
            };
            pickle.text(parent.as_bytes())?;
            pickle.dict()?;
            for (key, value) in run {
                pickle.text(key.split_once('.').map_or("", |(_, key)| key).as_bytes())?;
                setting(pickle, value)?;
            }
            pickle.end_dict()?;
        }
        pickle.end_dict()
    }

    /// Annotations that the range touches, whole.
    fn annotations<W: Write>(
        &mut self,
        pickle: &mut PickleWriter<W>,
        range: &Range<'_>,
        [first, last]: [i64; 2],
    ) -> io::Result<()> {
        let marks = &self.file.snapshot.marks;
        let device = range.history.device;
        let (mut open, mut kept): (HashMap<u32, Vec<usize>, RandomState>, Vec<usize>) = Default::default();
        for (at, mark) in marks.iter().enumerate().filter(|(_, mark)| mark.device == device) {
            if mark.start {
                open.entry(mark.name.0).or_default().push(at);
                continue;
            }
            let start = open.get_mut(&mark.name.0).and_then(Vec::pop);
            let from = start.and_then(|start| marks.get(start)).map_or(first, |start| start.time_us);
            if from <= last && mark.time_us >= first {
                kept.extend(start.into_iter().chain([at]));
            }
        }
        let is_open = |at: &usize| marks.get(*at).is_some_and(|mark| mark.time_us <= last);
        kept.extend(open.into_values().flatten().filter(is_open));
        kept.sort_unstable();
        pickle.key("external_annotations")?;
        let mut items = pickle.list()?;
        for mark in kept.iter().filter_map(|&at| marks.get(at)) {
            pickle.item(&mut items)?;
            pickle.dict()?;
            pickle.key("stage")?;
            pickle.key(if mark.start { "START" } else { "END" })?;
            pickle.key("name")?;
            self.string(pickle, mark.name)?;
            pickle.key("device")?;
            pickle.int(device.into())?;
            pickle.key("time_us")?;
            pickle.int(mark.time_us.into())?;
            pickle.end_dict()?;
        }
        pickle.end_list(items)
    }
}

/// The id of a pool under this key.
fn pool<W: Write>(pickle: &mut PickleWriter<W>, key: &'static str, (one, other): (u64, u64)) -> io::Result<()> {
    pickle.key(key)?;
    pickle.int(one.into())?;
    pickle.int(other.into())?;
    pickle.pair()
}

/// A setting as Python has it: a bool, a number or a text.
fn setting<W: Write>(pickle: &mut PickleWriter<W>, value: &str) -> io::Result<()> {
    match value {
        "True" => return pickle.bool(true),
        "False" => return pickle.bool(false),
        _ => {}
    }
    if let Ok(number) = value.parse::<i64>() {
        return pickle.int(number.into());
    }
    match value.parse::<f64>() {
        Ok(number) if value.contains('.') => pickle.float(number),
        _ => pickle.text(value.as_bytes()),
    }
}
