//! Interpretation of dicts by their contents: a dict with `action` is an event, one with `filename`
//! a frame, and so on.
//!
//! A dict that has such a key but lacks other required keys stays a plain dict. This is an error only in positions that
//! require a specific kind of dict, so user metadata can contain any keys.

use super::error::{ContentError, Problem};
use super::event::{Action, Event, NO_TIME, UNKNOWN_FREE};
use super::frames::{Frame, FrameId};
use super::labels::{Labels, LabelsId};
use super::schema::Key;
use super::segments::AnnotationMark;
use super::stacks::StackId;
use super::store::Store;
use super::strings::StringId;
use super::unknown::{SeenWords, UnknownOwner};
use super::value::{Kind, Value};

/// Iterates over the pairs of a dict whose value is not None, each as schema key, handle of the key, and value. The
/// schema key is `None` for keys outside the schema.
pub(super) fn fields(pairs: &[Value]) -> impl Iterator<Item = (Option<Key>, Value, Value)> + '_ {
    all_fields(pairs).filter(|&(.., value)| value != Value::NONE)
}

/// As [`fields`], with those whose value is None.
fn all_fields(pairs: &[Value]) -> impl Iterator<Item = (Option<Key>, Value, Value)> + '_ {
    pairs.chunks_exact(2).map(|pair| {
        let key = pair[0].as_kind(Kind::String).and_then(|id| Key::from_id(StringId(id)));
        (key, pair[0], pair[1])
    })
}

/// Returns the key that determines the kind of a dict.
pub(super) fn identify(pairs: &[Value]) -> Option<Key> {
    let mut claim = None;
    for (key, ..) in all_fields(pairs) {
        match key {
            Some(Key::Action) => return key,
            Some(Key::Filename | Key::Blocks | Key::State | Key::Stage | Key::RealSize) if claim.is_none() => {
                claim = key;
            }
            _ => {}
        }
    }
    claim
}

impl Store {
    /// Parses an event. `row` is its row in the event queue, for the path of a warning.
    pub(super) fn parse_event(
        &mut self,
        pairs: &[Value],
        seen: &mut SeenWords,
        row: u32,
    ) -> Result<Event, ContentError> {
        let mut event = Event {
            address: 0,
            size: 0,
            time_us: NO_TIME,
            stack: StackId::NONE,
            labels: LabelsId(0),
            action: Action::Unknown,
        };
        let mut labels = Labels::default();
        let [mut has_action, mut has_address, mut has_device_free, mut has_size] = [false; 4];
        for (key, name, value) in fields(pairs) {
            let Some(key) = key else {
                seen.add_unknown(UnknownOwner::Event, name, row);
                continue;
            };
            match key {
                Key::Action => {
                    let word = Key::from_id(self.string_at(key, value)?);
                    match (word, word.and_then(Key::action)) {
                        (Some(word), Some(action)) => {
                            event.action = action;
                            seen.mark_key(word);
                        }
                        _ => seen.add_unknown(UnknownOwner::Action, value, row),
                    }
                    has_action = true;
                }
                Key::Addr => {
                    event.address = self.address_at(key, value)?;
                    has_address = true;
                }
                Key::DeviceFree => {
                    event.address = match self.signed_at(key, value) {
                        // Not a number of bytes.
                        Ok(..0) => UNKNOWN_FREE,
                        _ => self.bytes_at(key, value)?,
                    };
                    (has_address, has_device_free) = (true, true);
                }
                Key::Size => {
                    event.size = self.bytes_at(key, value)?;
                    has_size = true;
                }
                Key::Stream => labels.stream = Some(self.address_at(key, value)?),
                Key::TimeUs => event.time_us = self.signed_at(key, value)?,
                Key::Frames => event.stack = self.stack_at(key, value)?,
                Key::CompileContext => labels.compile_context = self.metadata_text(value),
                Key::UserMetadata => labels.user_metadata = self.metadata_text(value),
                Key::InternalMetadata => labels.internal_metadata = self.metadata_text(value),
                Key::Category => labels.category = self.metadata_text(value),
                Key::PoolId => labels.pool = Some(self.pool_at(key, value)?),
                Key::ForwardFrames => labels.forward_frames = self.lines_at(key, value)?,
                _ => {
                    seen.add_unknown(UnknownOwner::Event, name, row);
                    continue;
                }
            }
            seen.mark_key(key);
        }
        // PyTorch writes `device_free`. Zero as the address of a failed request says nothing.
        if event.action == Action::Oom && (!has_address || !has_device_free && event.address == 0) {
            event.address = UNKNOWN_FREE;
        }
        for (present, key) in [
            (has_action, Key::Action),
            (has_address || !event.action.requires_address(), Key::Addr),
            (has_size || !event.action.requires_address(), Key::Size),
        ] {
            if !present {
                return Err(ContentError::at_key(key, Problem::Missing));
            }
        }
        match self.labels.intern(labels) {
            Some(id) => event.labels = id,
            None => {
                return Err(ContentError::at_key(Key::UserMetadata, Problem::Range("one of 2^32 distinct strings")));
            }
        }
        Ok(event)
    }

    /// Interns the text of a value of any type, because metadata may be a dict in older versions. Returns `None` for
    /// Python's `None` and the empty string.
    fn metadata_text(&mut self, value: Value) -> Option<StringId> {
        match value.kind() {
            Kind::String => Some(StringId(value.index())).filter(|&id| !self.strings.bytes(id).is_empty()),
            Kind::Constant if value == Value::NONE => None,
            // Later versions write JSON themselves.
            Kind::Dict => {
                let text = self.json(value);
                self.strings.intern(text.as_bytes())
            }
            _ => {
                let text = self.describe(value);
                self.strings.intern(text.as_bytes())
            }
        }
    }

    /// Interns a list of traceback lines as a stack of strings, so that tracebacks share their common parts.
    fn lines_at(&mut self, key: Key, list: Value) -> Result<Option<StackId>, ContentError> {
        if !matches!(list.kind(), Kind::List | Kind::Tuple) || self.first_not_of(list, Kind::String).is_some() {
            return Err(ContentError::at_key(key, Problem::Type("a list of strings", list.kind())));
        }
        let known = self.line_lists.get(&list.index()).copied();
        let lines = known.or_else(|| {
            let lines: Vec<u32> = self.values(list).map(Value::index).collect();
            let lines = self.lines.intern(&lines)?;
            self.line_lists.insert(list.index(), lines);
            Some(lines)
        });
        Ok(lines.filter(|&lines| lines != StackId::EMPTY))
    }

    /// Parses a stack frame and interns it.
    pub(super) fn parse_frame(&mut self, pairs: &[Value], seen: &mut SeenWords) -> Result<FrameId, ContentError> {
        let (mut name, mut filename, mut line) = (None, None, 0);
        let mut fx: Vec<(StringId, StringId)> = Vec::new();
        for (key, word, value) in all_fields(pairs) {
            match key {
                // Frames of generated code have no file, and some no line.
                Some(Key::Line) if value == Value::NONE => {}
                Some(Key::Name) if value == Value::NONE => name = self.strings.intern(b""),
                Some(Key::Filename) if value == Value::NONE => filename = self.strings.intern(b""),
                Some(Key::Name) => name = Some(self.string_at(Key::Name, value)?),
                Some(Key::Filename) => filename = Some(self.string_at(Key::Filename, value)?),
                Some(Key::Line) => line = self.integer_at(Key::Line, value)?,
                Some(Key::FxNodeOp | Key::FxNodeName | Key::FxNodeTarget | Key::FxOriginalTrace | Key::FxNodeInfo) => {
                    if let Some(text) = self.metadata_text(value) {
                        fx.retain(|&(known, _)| known.0 != word.index());
                        fx.push((StringId(word.index()), text));
                    }
                }
                _ => seen.add_unknown(UnknownOwner::Frame, word, self.frames.len() as u32),
            }
        }
        let filename = filename.ok_or_else(|| ContentError::at_key(Key::Filename, Problem::Missing))?;
        let name = name.ok_or_else(|| ContentError::at_key(Key::Name, Problem::Missing))?;
        let frame = Frame { name, filename, line, fx: fx.into_boxed_slice() };
        self.frames.intern(frame).ok_or_else(|| ContentError::at_key(Key::Name, Problem::Range("one of 2^32 frames")))
    }

    /// Returns the stage of an annotation if it is a string other than `START` and `END`.
    pub(super) fn unknown_stage(&self, pairs: &[Value]) -> Option<Value> {
        let (_, _, stage) = fields(pairs).find(|(key, ..)| *key == Some(Key::Stage))?;
        let word = StringId(stage.as_kind(Kind::String)?);
        (!matches!(Key::from_id(word), Some(Key::Start | Key::End))).then_some(stage)
    }

    /// Returns the annotation mark that a `user_defined` event stands for. Its device is not known yet.
    pub(super) fn user_mark(&self, event: &Event) -> Option<AnnotationMark> {
        let frame = self.frames.frame(self.stacks.frames(event.stack).next()?);
        let start = match Key::from_id(frame.name)? {
            Key::Start => true,
            Key::End => false,
            _ => return None,
        };
        let time_us = Some(event.time_us).filter(|&time| time != NO_TIME)?;
        Some(AnnotationMark { device: 0, start, name: frame.filename, time_us })
    }

    /// Parses an entry of the list `external_annotations`.
    pub(super) fn parse_annotation(&mut self, pairs: &[Value]) -> Result<AnnotationMark, ContentError> {
        let (mut start, mut name, mut device, mut time_us) = (None, None, 0, None);
        for (key, _, value) in fields(pairs) {
            match key {
                Some(Key::Stage) => {
                    let word = self.string_at(Key::Stage, value)?;
                    start = match Key::from_id(word) {
                        Some(Key::Start) => Some(true),
                        Some(Key::End) => Some(false),
                        _ => return Err(ContentError::at_key(Key::Stage, Problem::Range("'START' or 'END'"))),
                    };
                }
                Some(Key::Name) => name = Some(self.string_at(Key::Name, value)?),
                Some(Key::Device) => device = self.signed_at(Key::Device, value)?,
                Some(Key::TimeUs) => time_us = Some(self.signed_at(Key::TimeUs, value)?),
                // Any other key with a text is user metadata.
                _ => {}
            }
        }
        let missing = |key| ContentError::at_key(key, Problem::Missing);
        Ok(AnnotationMark {
            device,
            start: start.ok_or_else(|| missing(Key::Stage))?,
            name: name.ok_or_else(|| missing(Key::Name))?,
            time_us: time_us.ok_or_else(|| missing(Key::TimeUs))?,
        })
    }
}
