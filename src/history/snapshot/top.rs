//! Interpretation of a snapshot's top level.

use super::contents::{EndState, HOST_DEVICE, Snapshot};
use super::error::{ContentError, Problem};
use super::event::EventSink;
use super::reader::Reader;
use super::schema::{self, Key};
use super::segments::{AnnotationMark, Segment};
use super::strings::StringId;
use super::top_level::{TopLevel, is_likely_full};
use super::unknown::UnknownOwner;
use super::value::{Kind, Value};
use super::warning::WarningKind;
use crate::recorder::{RECORDER_KEYS, Token, ValueTree, parse_recorder};

/// Maximum number of settings that are stored. PyTorch has about thirty.
pub const MAX_SETTINGS: usize = 1000;

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

    fn build_snapshot(mut self, top: TopLevel) -> (Snapshot, S) {
        self.store.stacks.drop_index();
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
}

/// Returns the private pool that all segments belong to. Returns `None` if there are several pools, or only the default
/// pool, because a device may have no other pool.
fn single_pool(segments: &[Segment]) -> Option<(u64, u64)> {
    let pool = segments.first()?.pool.filter(|&pool| pool != (0, 0))?;
    segments.iter().all(|segment| segment.pool == Some(pool)).then_some(pool)
}

pub(super) fn schema_key(key: Value) -> Option<Key> {
    key.as_kind(Kind::String).and_then(|id| Key::from_id(StringId(id)))
}
