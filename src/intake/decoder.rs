//! Decoders for the content of a container. There is one for each format, and all produce the same snapshot values.

use super::event_sink::{InputState, PendingWork, RecordingSink};
use super::snapviewer::{DRAWING, Drawing};
use super::spans::JoinError;
use base::heap::HeapBytes;
use base::units::{group_digits, pluralize};
use history::compact::{self, CompactError};
use history::container::Content;
use history::json::{self, JsonError};
use history::pickle::{self, PickleError};
use history::replay::{MAX_EVENTS, Partial, PartialEnd, Recorder};
use history::snapshot::{ContentError, Problem, ReadError, Reader, Snapshot, WarningKind};
use protocol::LoadRange;

/// Error that occurs while the content of a container is decoded.
#[derive(Debug, thiserror::Error)]
pub(super) enum DecodeError {
    #[error("{0}")]
    Pickle(#[from] PickleError<ReadError>),
    #[error("{0}")]
    Json(#[from] JsonError<ReadError>),
    #[error("{0}")]
    Columns(#[from] CompactError),
    /// The content was decoded, but it is not a snapshot.
    #[error("{0}")]
    Content(#[from] ContentError),
    /// `allocations.json` of a SnapViewer archive is invalid.
    #[error("{0}")]
    Drawing(#[from] JsonError<JoinError>),
    /// `allocations.json` and `elements.json` of a SnapViewer archive do not match.
    #[error("{0}")]
    Join(#[from] JoinError),
    /// The trace has more events than the maximum.
    #[error(
        "a trace has more than {} events, the maximum: record fewer (max_entries)",
        group_digits(MAX_EVENTS.into())
    )]
    TooManyEvents,
    /// The file is SnapViewer's `allocations.json` without `elements.json`, so it has no stacks.
    #[error(
        "this is SnapViewer's allocations.json without its elements.json: open SnapViewer's .zip or the original \
         snapshot (folders with elements.db are not supported)"
    )]
    DrawingAlone,
}

impl DecodeError {
    /// Returns what the content holds, as the end of a sentence, if it is something else than a snapshot.
    pub(super) fn foreign_content(&self) -> Option<String> {
        match self {
            DecodeError::Pickle(PickleError { kind: pickle::ErrorKind::Import(name), .. }) => {
                Some(format!(": it holds {name}"))
            }
            DecodeError::Pickle(PickleError { kind: pickle::ErrorKind::Unsupported(_), .. }) => Some(String::new()),
            DecodeError::Content(ContentError { problem: Problem::NotASnapshot(keys), .. }) => {
                Some(if keys.is_empty() { String::new() } else { format!(": it holds {keys}") })
            }
            _ => None,
        }
    }
}

/// Relation between the members of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// The file is a snapshot, or each member is a separate snapshot.
    Snapshot,
    /// `allocations.json` of a SnapViewer archive, followed by its `elements.json`.
    SnapViewer,
}

/// Result of a decoder that has finished.
pub(super) enum Decoded {
    Snapshot(Box<(Snapshot, Recorder)>),
    /// The first of two members is decoded. Holds the decoder for the second member.
    NextMember(Decoder),
}

impl Decoded {
    fn snapshot(snapshot: Snapshot, recorder: Recorder) -> Result<Decoded, DecodeError> {
        match recorder.dropped_events() {
            0 => Ok(Decoded::Snapshot(Box::new((snapshot, recorder)))),
            _ => Err(DecodeError::TooManyEvents),
        }
    }
}

/// Incremental decoder of the content of a container.
pub(super) enum Decoder {
    Pickle(Box<pickle::Unpickler<Reader<RecordingSink>>>, PickleHead),
    Json(Box<json::Parser<Reader<RecordingSink>>>),
    Columns(Box<compact::ColumnReader<RecordingSink>>),
    Drawing(Box<json::Parser<Drawing>>),
    Elements(Box<json::Parser<Reader<RecordingSink>>>),
}

impl Decoder {
    /// Creates a decoder for this kind of content.
    pub(super) fn new(content: Content, layout: Layout) -> Decoder {
        let reader = Reader::new(RecordingSink::default());
        match content {
            Content::Columns => Decoder::Columns(Box::new(compact::ColumnReader::new(RecordingSink::default()))),
            Content::Json if layout == Layout::SnapViewer => Decoder::Drawing(Box::new(Drawing::machine())),
            Content::Pickle => {
                let machine = pickle::Unpickler::new(reader, pickle::Limits::default());
                Decoder::Pickle(Box::new(machine), PickleHead::default())
            }
            Content::Json => Decoder::Json(Box::new(json::Parser::new(reader, json::Limits::default()))),
        }
    }

    /// Ignores other pickles after the first one, without a warning.
    pub(super) fn ignore_trailing_bytes(&mut self) {
        if let Decoder::Pickle(_, head) = self {
            head.may_have_trailing_bytes = true;
        }
    }

    /// Sets the range of events to load. Nothing may have been fed yet.
    pub(super) fn set_range(&mut self, load: LoadRange) {
        match self {
            Decoder::Pickle(machine, _) => machine.builder_mut().sink_mut().set_range(load),
            Decoder::Json(machine) | Decoder::Elements(machine) => machine.builder_mut().sink_mut().set_range(load),
            Decoder::Columns(machine) => machine.sink_mut().set_range(load),
            Decoder::Drawing(_) => {}
        }
    }

    /// Calls `prepare` with the event sink if the content is in the column format. Nothing may have been fed yet.
    pub(super) fn prepare(&mut self, prepare: fn(&mut RecordingSink)) {
        if let Decoder::Columns(machine) = self {
            prepare(machine.sink_mut());
        }
    }

    /// Decodes more bytes of the content.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        match self {
            Decoder::Pickle(machine, head) => {
                head.record(bytes);
                machine.feed(bytes)?;
            }
            Decoder::Json(machine) | Decoder::Elements(machine) => machine.feed(bytes)?,
            Decoder::Columns(machine) => machine.feed(bytes)?,
            Decoder::Drawing(machine) => machine.feed(bytes)?,
        }
        Ok(())
    }

    /// Processes some of the decoded data. Must be called until it returns [`PendingWork::Done`] before more bytes are
    /// fed.
    pub(super) fn process_pending(&mut self, rest: InputState) -> PendingWork {
        match self {
            Decoder::Elements(machine) => machine.builder_mut().sink_mut().record_pending(rest),
            Decoder::Columns(machine) => match machine.step() {
                true => PendingWork::More,
                false => PendingWork::Done,
            },
            Decoder::Pickle(..) | Decoder::Json(_) | Decoder::Drawing(_) => PendingWork::Done,
        }
    }

    /// Returns the decoded data, and the names of the snapshots in it if there are several. `member` is the index of
    /// the one to open. All pending data must have been processed. Fails if the content is incomplete.
    pub(super) fn finish(self, member: u32) -> Result<(Decoded, Vec<String>), DecodeError> {
        let mut trailing_bytes = 0;
        let (reader, root) = match self {
            Decoder::Pickle(machine, head) => {
                trailing_bytes = head.bytes_fed.saturating_sub(machine.offset());
                // Pickles in torch's HTML pages are padded for base64.
                if trailing_bytes <= head.trailing_zeros || head.may_have_trailing_bytes {
                    trailing_bytes = 0;
                }
                machine.finish()?
            }
            Decoder::Json(machine) => machine.finish()?,
            Decoder::Columns(machine) => {
                let (read, events) = machine.finish()?;
                let (mut snapshot, trailing) = (read.snapshot, read.trailing_bytes);
                let kind = WarningKind::TrailingBytes("columns");
                snapshot.warnings.add(kind, u64::from(trailing > 0), || pluralize(trailing, "byte"));
                return Ok((Decoded::snapshot(snapshot, events.finish()?)?, Vec::new()));
            }
            Decoder::Drawing(machine) => {
                let (drawing, _) = machine.finish()?;
                let elements = Decoder::Elements(Box::new(drawing.elements()?));
                return Ok((Decoded::NextMember(elements), Vec::new()));
            }
            Decoder::Elements(machine) => {
                let (reader, root) = machine.finish()?;
                let (mut snapshot, events) = reader.finish_events("elements", root)?;
                snapshot.warnings.add(WarningKind::FromPlotData, 1, || DRAWING.to_owned());
                return Ok((Decoded::snapshot(snapshot, events.finish()?)?, Vec::new()));
            }
        };
        let members = reader.members(root);
        let (mut snapshot, events) = reader.finish(root, member)?;
        let kind = WarningKind::TrailingBytes("pickle");
        snapshot.warnings.add(kind, u64::from(trailing_bytes > 0), || pluralize(trailing_bytes, "byte"));
        Ok((Decoded::snapshot(snapshot, events.finish()?)?, members))
    }

    /// Returns a description of the format, such as `pickle 4 (Python)`.
    pub(super) fn description(&self) -> String {
        match self {
            Decoder::Pickle(_, head) => head.describe(),
            Decoder::Json(_) => "JSON".to_owned(),
            Decoder::Columns(machine) => machine.description(),
            Decoder::Drawing(_) | Decoder::Elements(_) => "SnapViewer".to_owned(),
        }
    }

    /// Returns the number of bytes on the heap and the number of events read so far.
    pub(super) fn usage(&self) -> (u64, u64) {
        let events = match self {
            Decoder::Pickle(machine, _) => machine.builder().sink().events(),
            Decoder::Json(machine) => machine.builder().sink().events(),
            Decoder::Columns(machine) => machine.sink().events(),
            // `max_entries` does not apply to drawings, so their events are not counted.
            Decoder::Drawing(_) | Decoder::Elements(_) => 0,
        };
        (self.heap_bytes().iter().map(|&(_, bytes)| bytes as u64).sum(), events)
    }

    /// Adds the events that were decoded since the last call to `partial`.
    pub(super) fn update_partial(&self, partial: &mut Partial) {
        let by_reader = |reader: &Reader<RecordingSink>, partial: &mut Partial| {
            let end = PartialEnd { segments: reader.segments_so_far(), block: &|row| reader.live_block(row) };
            partial.update(reader.sink().recorder(), &end);
        };
        match self {
            Decoder::Pickle(machine, _) => by_reader(machine.builder(), partial),
            Decoder::Json(machine) | Decoder::Elements(machine) => by_reader(machine.builder(), partial),
            Decoder::Columns(machine) => {
                partial.update(machine.sink().recorder(), &PartialEnd { segments: &[], block: &|_| None });
            }
            Decoder::Drawing(_) => {}
        }
    }

    /// Returns the heap usage in bytes of each table.
    pub(super) fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let (own, reader, events) = match self {
            Decoder::Pickle(machine, _) => {
                let reader = machine.builder();
                (("memo and stack", machine.heap_bytes()), reader.heap_bytes(), reader.sink().heap_bytes())
            }
            Decoder::Json(machine) | Decoder::Elements(machine) => {
                let reader = machine.builder();
                (("longest string", machine.heap_bytes()), reader.heap_bytes(), reader.sink().heap_bytes())
            }
            Decoder::Columns(machine) => {
                (("section", machine.heap_bytes()), machine.tables_heap_bytes(), machine.sink().heap_bytes())
            }
            Decoder::Drawing(machine) => {
                (("SnapViewer's timesteps", machine.builder().heap_bytes()), Vec::new(), Vec::new())
            }
        };
        [vec![own], reader, events].concat()
    }
}

/// First bytes of a pickle. They show which program wrote the file.
#[derive(Default)]
pub(super) struct PickleHead {
    bytes: [u8; 4],
    /// Bytes fed so far, including those after the pickle.
    bytes_fed: u64,
    /// Number of zero bytes at the end of the bytes fed so far.
    trailing_zeros: u64,
    /// True if other pickles may follow.
    may_have_trailing_bytes: bool,
}

impl PickleHead {
    fn record(&mut self, bytes: &[u8]) {
        let missing =
            usize::try_from(self.bytes_fed).ok().and_then(|seen| self.bytes.get_mut(seen..)).unwrap_or_default();
        missing.iter_mut().zip(bytes).for_each(|(slot, &byte)| *slot = byte);
        self.bytes_fed += bytes.len() as u64;
        self.trailing_zeros = match bytes.iter().rposition(|&byte| byte != 0) {
            Some(last) => (bytes.len() - 1 - last) as u64,
            None => self.trailing_zeros + bytes.len() as u64,
        };
    }

    /// Returns a description of the pickle protocol and the program that wrote the file. torch's C++ pickler writes
    /// protocol 2 and memoizes a container after its contents, so the opcode MARK directly follows the container.
    fn describe(&self) -> String {
        let (protocol, writer) = match self.bytes {
            [0x80, 2, b'}' | b']', b'('] => (2, "torch C++"),
            [0x80, protocol, ..] => (protocol, "Python"),
            [b'(', ..] => (0, "Python"),
            _ => (1, "Python"),
        };
        format!("pickle {protocol} ({writer})")
    }
}
