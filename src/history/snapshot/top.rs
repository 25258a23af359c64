//! Interpretation of a snapshot's top level.

use super::error::{ContentError, Problem};
use super::event::EventSink;
use super::frames::Frames;
use super::labels::LabelTable;
use super::limits::MAX_TRACES;
use super::reader::Reader;
use super::schema::{self, Key};
use super::segments::{AnnotationMark, AnnotationRange, Block, Segment};
use super::stacks::Stacks;
use super::strings::{StringId, Strings};
use super::top_level::{SegmentPlace, TopLevel, is_likely_full};
use super::unknown::{SeenWords, UnknownOwner};
use super::value::{Kind, Value};
use super::warning::{WarningKind, Warnings};
use crate::recorder::{RECORDER_KEYS, RecorderData, Token, ValueTree, parse_recorder};
use base::heap::HeapBytes;

/// Contents of a snapshot file, except its events.
pub struct Snapshot {
    pub strings: Strings,
    pub frames: Frames,
    pub stacks: Stacks,
    pub labels: LabelTable,
    /// Tracebacks of forward ops. The frames of these stacks are [`super::StringId`]s of lines.
    pub lines: Stacks,
    /// Segments of all devices and of host memory (device −1), in file order.
    pub segments: Vec<Segment>,
    pub blocks: Vec<Block>,
    /// Starts and ends of annotations, in file order.
    pub marks: Vec<AnnotationMark>,
    /// Traces, each as the ordinal of its device ([`HOST_DEVICE`] for host memory) and its index in the sink.
    pub traces: Vec<(i64, u32)>,
    /// `allocator_settings`, as pairs of dotted key and value.
    pub settings: Vec<(String, String)>,
    /// Data added by a recorder.
    pub recorder: RecorderData,
    /// Steps from the recorder, as annotations. Empty if the file has step annotations.
    pub steps: Vec<AnnotationRange>,
    /// Oldest PyTorch version that writes all keys of the file, and the key that was introduced last.
    pub torch: Option<(&'static str, &'static str)>,
    /// Availability of the state at the end of the recording.
    pub end: EndState,
    /// Warnings about the file itself.
    pub warnings: Warnings,
}

/// Availability of the state at the end of the recording in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndState {
    /// The file has a list of segments, which may be empty.
    Recorded,
    /// The file has no list of segments.
    Unknown,
}

impl Snapshot {
    /// Converts the recorder's steps to annotations, unless the file has step annotations from the profiler, which are
    /// more precise.
    pub(crate) fn name_steps(&mut self) {
        let adds_history = |mark: &AnnotationMark| self.strings.bytes(mark.name).starts_with(STEP_PREFIX.as_bytes());
        if self.recorder.steps.is_empty() || self.marks.iter().any(adds_history) {
            return;
        }
        for [number, start_us, end_us] in &self.recorder.steps {
            let Some(name) = self.strings.intern([STEP_PREFIX, &number.to_string()].concat().as_bytes()) else {
                return;
            };
            self.steps.push(AnnotationRange { name, start_us: *start_us, end_us: Some(*end_us) });
        }
    }

    /// Returns the heap size of each table, in bytes.
    pub fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        vec![
            ("strings", self.strings.heap_bytes()),
            ("frames", self.frames.heap_bytes()),
            ("stacks", self.stacks.heap_bytes()),
            ("labels", self.labels.heap_bytes() + self.lines.heap_bytes()),
            ("segments and blocks", self.segments.heap_bytes() + self.blocks.heap_bytes()),
            ("annotations", self.marks.heap_bytes()),
            ("the recorder's key", self.recorder.heap_bytes()),
        ]
    }
}

/// Prefix of the step annotations of torch.profiler and the recorder, followed by the step number.
const STEP_PREFIX: &str = "ProfilerStep#";

/// Device ordinal of host (pinned) memory, as in the file's segments.
pub const HOST_DEVICE: i64 = -1;

/// Maximum number of settings that are stored. PyTorch has about thirty.
pub const MAX_SETTINGS: usize = 1000;

const TOO_MANY_DEVICES: Problem = Problem::Range("one of the first 1024 devices");

/// PyTorch versions that introduced a key, newest first.
const KEY_VERSIONS: [(Key, &str); 14] = [
    (Key::InternalMetadata, "2.15"),
    (Key::HostSegments, "2.14"),
    (Key::HostTraces, "2.14"),
    (Key::Annotate, "2.14"),
    (Key::PoolId, "2.11"),
    (Key::ForwardFrames, "2.11"),
    (Key::UserMetadata, "2.10"),
    (Key::CompileContext, "2.8"),
    (Key::ExternalAnnotations, "2.5"),
    (Key::AllocatorSettings, "2.3"),
    (Key::TimeUs, "2.2"),
    (Key::SegmentPoolId, "2.1"),
    (Key::DeviceTraces, "2.0"),
    (Key::Segments, "1.12"),
];

/// Key that marks a file as simulated.
pub const SIMULATED_KEY: &str = "memscape_simulated";

/// Returns the oldest PyTorch version that writes this key, and the key itself. Returns `None` if the key does not
/// depend on the version.
pub fn torch_version_with(key: &str) -> Option<(&'static str, &'static str)> {
    KEY_VERSIONS.iter().find(|(since, _)| since.text() == key).map(|(key, since)| (*since, key.text()))
}

impl<S: EventSink> Reader<S> {
    /// Returns the snapshot in the top-level value `root`, and the sink with its events. `member` is the index of the
    /// snapshot if there are several ([`Reader::members`]).
    ///
    /// The call is not interruptible. It takes tens of nanoseconds per segment, block, annotation and setting, and
    /// no time per event. A file of 10 million events has some hundred thousand such objects.
    ///
    /// # Errors
    /// Returns an error if a value under a known key has a wrong type, or the file as a whole is not a snapshot.
    pub fn finish(mut self, root: Value, member: u32) -> Result<(Snapshot, S), ContentError> {
        let mut top = TopLevel::default();
        let found = self.find_snapshots(root);
        if let Some((path, root)) = found.into_iter().nth(member as usize) {
            self.read_snapshot(root, &mut top).map_err(|error| error.within(&path))?;
        } else if member > 0 {
            return Err(ContentError { path: String::new(), problem: Problem::NoSuchMember(member) });
        } else if !self.read_profile(root, &mut top)? {
            return Err(self.not_a_snapshot(root));
        }
        Ok(self.build_snapshot(top))
    }

    /// Reads the snapshot in this value, which [`Reader::find_snapshots`] has found.
    fn read_snapshot(&mut self, root: Value, top: &mut TopLevel) -> Result<(), ContentError> {
        match root.kind() {
            Kind::Dict => {
                let pairs = self.store.pairs(root);
                let mut last = [0; schema::KEYS.len()];
                for (index, pair) in pairs.chunks_exact(2).enumerate() {
                    schema_key(pair[0])
                        .and_then(|key| last.get_mut(key as usize))
                        .into_iter()
                        .for_each(|last| *last = index);
                }
                for (index, pair) in pairs.chunks_exact(2).enumerate() {
                    // Of equal keys the last one counts.
                    if schema_key(pair[0]).is_none_or(|key| last.get(key as usize) == Some(&index)) {
                        self.top_key(pair[0], pair[1], top)?;
                    }
                }
            }
            // The list `device_traces` alone, or one of its traces.
            Kind::Trace => self.trace("", 0, root, top)?,
            _ if self.is_list_of_traces(root) => {
                self.device_traces("", root, top)?;
            }
            // A bare list of segments: 1.12–1.13, and `torch.cuda.memory_snapshot()` in all versions.
            _ => {
                self.segments("", root, None, top)?;
                top.single_pool = single_pool(&top.segments);
                self.seen.mark_key(Key::Segments);
            }
        }
        Ok(())
    }

    /// Returns the snapshot of a file whose top-level value is a list of events, and the sink with these events. They
    /// are assigned to device 0. `name` is the path of the list in errors.
    ///
    /// # Errors
    /// Returns the same errors as [`Reader::finish`].
    pub fn finish_events(mut self, name: &str, root: Value) -> Result<(Snapshot, S), ContentError> {
        let mut top = TopLevel::default();
        self.trace(name, 0, root, &mut top)?;
        Ok(self.build_snapshot(top))
    }

    fn build_snapshot(self, top: TopLevel) -> (Snapshot, S) {
        // An excerpt saved by memscape marks events with a key that the recording PyTorch may not have known.
        let is_ours = |key: &Key| *key == Key::InternalMetadata && self.seen.has(Key::MemscapeCrop);
        let torch = KEY_VERSIONS.iter().find(|(key, _)| self.seen.has(*key) && !is_ours(key));
        let torch = torch.map(|(key, since)| (*since, key.text()));
        let has_segments = self.seen.has(Key::Segments) || self.seen.has(Key::HostSegments);
        let end = if has_segments { EndState::Recorded } else { EndState::Unknown };
        let mut warnings = self.warnings(&top);
        if let Some((first, second)) = top.single_pool {
            warnings
                .add(WarningKind::SinglePool(format!("({first}, {second})")), 1, || "[0].segment_pool_id".to_owned());
        }
        let is_simulated = top.simulated.is_some();
        if let Some([settings, source]) = top.simulated {
            warnings.add(WarningKind::Simulated(settings), 1, || source);
        }
        if let Some(profile) = top.profile {
            warnings.add(WarningKind::FromProfiler(profile), 1, || "the whole file".to_owned());
        } else {
            warnings.add(WarningKind::NoSegments, u64::from(!has_segments), || "segments".to_owned());
            let events: u64 =
                top.traces.iter().filter_map(|&(_, trace)| self.traces.get(trace as usize)).map(|t| t.events).sum();
            let has_stacks = !self.store.frames.is_empty();
            warnings.add(WarningKind::NoStacks, u64::from(events > 0 && !has_stacks), || "device_traces".to_owned());
            let is_off = events == 0 && self.seen.has(Key::DeviceTraces) && !top.segments.is_empty();
            warnings.add(WarningKind::NotRecorded, u64::from(is_off), || "device_traces".to_owned());
        }
        if let Some(place) = top.overflow {
            warnings.add(WarningKind::EventsOverwritten, 1, || place);
        } else if !(top.has_overflow_flag || is_simulated || self.seen.has(Key::MemscapeCrop)) {
            let full =
                top.traces.iter().filter_map(|&(device, trace)| Some((device, self.traces.get(trace as usize)?)));
            for (device, trace) in full.filter(|(_, trace)| is_likely_full(trace.events, top.max_entries)) {
                let place = || format!("device {device}: {} events", trace.events);
                warnings.add(WarningKind::EventsLikelyOverwritten, 1, place);
            }
        }
        let mut recorder = top.recorder;
        if !recorder.bytes().is_empty() {
            recorder.put(Token::End);
        }
        let mut marks = top.marks;
        // PyTorch 2.4 records annotations as events.
        for &(trace, mark) in &self.user_marks {
            let place = top.traces_taken.get(&trace).copied().unwrap_or(u32::MAX);
            if let Some(&(device, _)) = top.traces.get(place as usize) {
                marks.push(AnnotationMark { device, ..mark });
            }
        }
        let store = self.store;
        let mut snapshot = Snapshot {
            strings: store.strings,
            frames: store.frames,
            stacks: store.stacks,
            labels: store.labels,
            lines: store.lines,
            segments: top.segments,
            blocks: store.blocks.into_iter().map(|read| read.block).collect(),
            marks,
            traces: top.traces,
            settings: top.settings,
            recorder: parse_recorder(recorder),
            steps: Vec::new(),
            torch,
            end,
            warnings,
        };
        snapshot.name_steps();
        (snapshot, self.sink)
    }

    fn top_key(&mut self, key: Value, value: Value, top: &mut TopLevel) -> Result<(), ContentError> {
        match schema_key(key) {
            Some(_) if value == Value::NONE => return Ok(()),
            Some(Key::Segments) => self.segments("segments", value, None, top)?,
            Some(Key::HostSegments) => self.segments("host_segments", value, Some(HOST_DEVICE), top)?,
            Some(Key::DeviceTraces) => self.device_traces("device_traces", value, top)?,
            Some(Key::HostTraces) => self.trace("host_traces", HOST_DEVICE, value, top)?,
            Some(Key::ExternalAnnotations) => self.annotations(value, top)?,
            Some(Key::AllocatorSettings) => {
                self.settings("", value, 0, &mut top.settings);
                top.take_overflow();
            }
            Some(Key::TraceAllocOverflowed | Key::TraceAllocMaxEntries) => {
                self.settings(self.store.describe(key).as_str(), value, 0, &mut top.settings);
                top.take_overflow();
            }
            // Placeholder that the `_memory_viz` command line writes.
            Some(Key::Traces) => {}
            Some(Key::MemscapeCrop) => self.keep_for_recorder(key, value, &mut top.recorder),
            Some(Key::MemscapeSimulated) => self.parse_simulation(value, top),
            _ if RECORDER_KEYS.contains(&&*self.store.describe(key)) => {
                self.keep_for_recorder(key, value, &mut top.recorder);
                return Ok(());
            }
            _ => {
                self.seen.add_unknown(UnknownOwner::Snapshot, key, 0);
                return Ok(());
            }
        }
        if let Some(known) = schema_key(key) {
            self.seen.mark_key(known);
        }
        Ok(())
    }

    /// Adds a top-level key and its value to the recorder data.
    fn keep_for_recorder(&self, key: Value, value: Value, tree: &mut ValueTree) {
        if tree.bytes().is_empty() {
            tree.put(Token::Dict);
        }
        self.store.encode(key, 0, tree);
        self.store.encode(value, 0, tree);
    }

    fn segments(
        &mut self,
        path: &'static str,
        list: Value,
        device: Option<i64>,
        top: &mut TopLevel,
    ) -> Result<(), ContentError> {
        if !matches!(list.kind(), Kind::List | Kind::Tuple) {
            return Err(type_error(path, "a list of segments", list));
        }
        let rows: Vec<Value> = self.store.values(list).collect();
        for (index, &row) in (0..).zip(&rows) {
            let place = || format!("{path}[{index}]");
            match row.kind() {
                Kind::Segment => {
                    if top.segments_taken.insert(row.index(), index).is_some() {
                        return Err(ContentError { path: place(), problem: Problem::Range("a separate segment") });
                    }
                    top.segment_places.push(SegmentPlace { list: path, index, row: row.index() });
                    if let Some(mut segment) = self.store.segments.get(row.index() as usize).cloned() {
                        segment.device = device.unwrap_or(segment.device);
                        if !segment.blocks.is_empty() && !top.devices.admit(segment.device) {
                            return Err(ContentError { path: place() + ".device", problem: TOO_MANY_DEVICES });
                        }
                        top.segments.push(segment);
                    }
                }
                _ => {
                    let error = self.incomplete_segment(row);
                    return Err(error.unwrap_or_else(|| type_error("", "a segment", row)).within(&place()));
                }
            }
        }
        Ok(())
    }

    /// Returns what prevents a dict from being a segment.
    pub(super) fn incomplete_segment(&mut self, row: Value) -> Option<ContentError> {
        let pairs = if row.kind() == Kind::Dict { self.store.pairs(row) } else { return None };
        self.store.parse_segment(&pairs, &mut SeenWords::default()).err()
    }

    /// Reads the traces of all devices: a list by device, or a dict whose keys are devices.
    fn device_traces(&mut self, path: &str, value: Value, top: &mut TopLevel) -> Result<(), ContentError> {
        let traces: Vec<Value> = self.store.values(value).collect();
        match value.kind() {
            Kind::List | Kind::Tuple => {
                for (device, &trace) in traces.iter().enumerate() {
                    self.trace(&format!("{path}[{device}]"), device as i64, trace, top)?;
                }
            }
            Kind::Dict => {
                for pair in traces.chunks_exact(2) {
                    let device = self.store.describe(pair[0]);
                    let place = format!("{path}[{device}]");
                    let device = device.parse().map_err(|_| type_error(&place, "the number of a device", pair[0]))?;
                    self.trace(&place, device, pair[1], top)?;
                }
            }
            _ => return Err(type_error(path, "a list of lists of events", value)),
        }
        Ok(())
    }

    pub(super) fn trace(
        &mut self,
        path: &str,
        device: i64,
        list: Value,
        top: &mut TopLevel,
    ) -> Result<(), ContentError> {
        let other = match list.kind() {
            // A device without a trace.
            Kind::Constant if list == Value::NONE => None,
            Kind::Trace => {
                let other = self.traces.get(list.index() as usize).and_then(|trace| trace.other);
                if top.traces_taken.insert(list.index(), top.traces.len() as u32).is_some() {
                    return Err(ContentError { path: path.to_owned(), problem: Problem::Range("a separate list") });
                }
                if other.is_none() && !top.devices.admit(device) {
                    return Err(ContentError { path: path.to_owned(), problem: TOO_MANY_DEVICES });
                }
                if other.is_none() {
                    top.traces.push((device, list.index()));
                }
                other
            }
            Kind::List | Kind::Tuple if self.traces.len() >= MAX_TRACES && self.starts_with_an_event(list) => {
                let problem = Problem::Range("one of the first 65536 lists of events");
                return Err(ContentError { path: path.to_owned(), problem });
            }
            Kind::List | Kind::Tuple => self.store.values(list).next().map(|_| {
                let found = self.store.first_not_of(list, Kind::Event);
                found.map_or((0, list), |(index, value)| (index as u64, value))
            }),
            Kind::Stack => Some((0, Value::new(Kind::Frame, 0))),
            _ => return Err(type_error(path, "a list of events", list)),
        };
        let Some((index, value)) = other else { return Ok(()) };
        let place = format!("{path}[{index}]");
        Err(match value.kind() {
            Kind::Dict => {
                let pairs = self.store.pairs(value);
                let error = self.store.parse_event(&pairs, &mut SeenWords::default(), 0).err();
                error.unwrap_or_else(|| type_error("", "an event", value)).within(&place)
            }
            _ => type_error(&place, "an event", value),
        })
    }

    fn starts_with_an_event(&self, list: Value) -> bool {
        self.store.values(list).next().is_some_and(|first| first.kind() == Kind::Event)
    }

    fn annotations(&mut self, list: Value, top: &mut TopLevel) -> Result<(), ContentError> {
        if !matches!(list.kind(), Kind::List | Kind::Tuple) {
            return Err(type_error("external_annotations", "a list of annotations", list));
        }
        top.marks.clear();
        if self.store.first_not_of(list, Kind::Annotation).is_none() {
            let rows = self.store.values(list).filter_map(|row| self.store.marks.get(row.index() as usize));
            top.marks.extend(rows);
            return Ok(());
        }
        let annotations: Vec<Value> = self.store.values(list).collect();
        for (index, value) in annotations.into_iter().enumerate() {
            if value.kind() == Kind::Annotation {
                top.marks.extend(self.store.marks.get(value.index() as usize));
                continue;
            }
            let place = format!("external_annotations[{index}]");
            let pairs = if value.kind() == Kind::Dict { self.store.pairs(value) } else { Vec::new() };
            if let Some(stage) = self.store.unknown_stage(&pairs) {
                self.seen.add_unknown(UnknownOwner::Stage, stage, index as u32);
                continue;
            }
            let error = if pairs.is_empty() { None } else { self.store.parse_annotation(&pairs).err() };
            return Err(error.unwrap_or_else(|| type_error("", "an annotation", value)).within(&place));
        }
        Ok(())
    }
}

/// Returns the private pool that all segments belong to. Returns `None` if there are several pools, or only the default
/// pool, because a device may have no other pool.
fn single_pool(segments: &[Segment]) -> Option<(u64, u64)> {
    let pool = segments.first()?.pool.filter(|&pool| pool != (0, 0))?;
    segments.iter().all(|segment| segment.pool == Some(pool)).then_some(pool)
}

fn type_error(path: &str, what: &'static str, found: Value) -> ContentError {
    ContentError { path: path.to_owned(), problem: Problem::Type(what, found.kind()) }
}

pub(super) fn schema_key(key: Value) -> Option<Key> {
    key.as_kind(Kind::String).and_then(|id| Key::from_id(StringId(id)))
}
