//! Builder that turns the values of a snapshot into tables while they are decoded.
//!
//! A list of events is never stored: its events are passed to the [`EventSink`] when they are appended. A list of
//! frames becomes a stack when it is finished. Values that are not rows of a table are kept as handles of 8 bytes.

mod builder;

use super::dicts::identify;
use super::entry_delta::PreviousEntry;
use super::error::ReadError;
use super::event::{Action, EventSink};
use super::limits::MAX_ITEMS;
use super::queue::EventQueue;
use super::schema::Key;
use super::segments::{AnnotationMark, Segment};
use super::store::Store;
use super::unknown::SeenWords;
use super::value::{Kind, Value};
use base::heap::{self, HeapBytes};

/// Kind of an open container. It is determined by the first values of the container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Dict,
    List,
    Frames,
    /// List of events. Its values are passed to the sink as events of this trace.
    Events(u32),
}

struct OpenContainer {
    mode: Mode,
    items: Vec<Value>,
    item_count: u64,
}

base::heap_bytes!(OpenContainer: items);

impl OpenContainer {
    fn push_items(&mut self, items: &[Value]) -> Result<(), (usize, ReadError)> {
        if self.items.len() + items.len() > MAX_ITEMS {
            return Err((0, ReadError::Items));
        }
        self.items.extend_from_slice(items);
        Ok(())
    }
}

/// Result of reading a list of events: the number of events, and the first invalid value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TraceRead {
    pub(super) events: u64,
    /// Index and handle of the first value that is not an event.
    pub(super) other: Option<(u64, Value)>,
}

/// Builder that reads a snapshot. Pass it to a pickle or JSON parser, then call [`Reader::finish`].
pub struct Reader<S> {
    pub(super) store: Store,
    pub(super) seen: SeenWords,
    pub(super) traces: Vec<TraceRead>,
    pub(super) sink: S,
    /// Annotations recorded as events, each with its trace.
    pub(super) user_marks: Vec<(u32, AnnotationMark)>,
    queue: EventQueue,
    open: Vec<OpenContainer>,
    /// Previous entry, for delta decoding.
    previous_entry: PreviousEntry,
    pairs: Vec<Value>,
    frame_ids: Vec<u32>,
}

impl<S: EventSink> Reader<S> {
    /// Creates a reader that passes the events to `sink`.
    pub fn new(sink: S) -> Reader<S> {
        Reader {
            store: Store::default(),
            seen: SeenWords::default(),
            traces: Vec::new(),
            sink,
            user_marks: Vec::new(),
            queue: EventQueue::default(),
            open: Vec::new(),
            previous_entry: PreviousEntry::default(),
            pairs: Vec::new(),
            frame_ids: Vec::new(),
        }
    }

    pub fn sink(&self) -> &S {
        &self.sink
    }

    pub fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Returns the segments read so far. Their `blocks` are rows for [`Reader::live_block`].
    pub fn segments_so_far(&self) -> &[Segment] {
        &self.store.segments
    }

    /// Returns the address and requested bytes of a block, or `None` if it is not live or its address is not known yet
    /// (before PyTorch 2.1).
    pub fn live_block(&self, row: u32) -> Option<(u64, u64)> {
        let read = self.store.blocks.get(row as usize).filter(|read| read.has_address && read.block.state.is_live())?;
        Some((read.block.address, read.block.requested))
    }

    /// Returns the heap size of each table, in bytes.
    pub fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let mut bytes = self.store.heap_bytes();
        bytes.push(("events waiting for their list", self.queue.heap_bytes()));
        bytes.push(("open containers", heap::sum(&self.open)));
        bytes
    }

    fn start_container(&mut self, slot: u32, mode: Mode) {
        let slot = slot as usize;
        while self.open.len() <= slot {
            self.open.push(OpenContainer { mode, items: Vec::new(), item_count: 0 });
        }
        if let Some(open) = self.open.get_mut(slot) {
            open.mode = mode;
            open.items.clear();
            open.item_count = 0;
        }
    }

    fn finish_dict(&mut self, pairs: &[Value]) -> Result<Value, ReadError> {
        let Reader { store, seen, queue, .. } = self;
        let found = match identify(pairs) {
            Some(Key::Action) => match store.parse_event(pairs, seen, queue.rows()) {
                Ok(event) => {
                    let row = queue.push(event).ok_or(ReadError::TooMany("events"))?;
                    Some(Value::new(Kind::Event, row))
                }
                Err(_) => None,
            },
            Some(Key::Filename) => store.parse_frame(pairs, seen).ok().map(|id| Value::new(Kind::Frame, id.0)),
            Some(Key::State) => {
                store.parse_block(pairs, seen).ok().map(|block| push_row(Kind::Block, &mut store.blocks, block))
            }
            Some(Key::Blocks) => store
                .parse_segment(pairs, seen)
                .ok()
                .map(|segment| push_row(Kind::Segment, &mut store.segments, segment)),
            Some(Key::Stage) => {
                store.parse_annotation(pairs).ok().map(|mark| push_row(Kind::Annotation, &mut store.marks, mark))
            }
            Some(Key::RealSize) => store
                .parse_history_entry(pairs, seen)
                .ok()
                .map(|entry| push_row(Kind::HistoryEntry, &mut store.history, entry)),
            _ => None,
        };
        match found {
            Some(value) => Ok(value),
            None => store.container(Kind::Dict, pairs),
        }
    }

    /// Finishes a dict that is passed as separate keys and values. Uses delta decoding if possible.
    fn finish_keys_values(&mut self, keys: &[Value], values: &[Value]) -> Result<Value, ReadError> {
        if let Some(event) = self.previous_entry.next(keys, values, &mut self.store, &mut self.seen) {
            let row = self.queue.push(event).ok_or(ReadError::TooMany("events"))?;
            return Ok(Value::new(Kind::Event, row));
        }
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.clear();
        pairs.extend(keys.iter().zip(values).flat_map(|(&key, &value)| [key, value]));
        let value = self.finish_dict(&pairs);
        self.pairs = pairs;
        let event = value.as_ref().ok().and_then(|value| value.as_kind(Kind::Event)).and_then(|_| self.queue.newest());
        self.previous_entry.set(keys, values, event);
        value
    }

    pub(super) fn begin_trace(&mut self) -> u32 {
        self.traces.push(TraceRead::default());
        self.traces.len() as u32 - 1
    }

    /// Passes the events of a trace to the sink. `before` is the number of earlier values in its list.
    fn append_events(&mut self, trace: u32, before: u64, items: &[Value]) -> Result<(), (usize, ReadError)> {
        let Some(read) = self.traces.get_mut(trace as usize) else { return Ok(()) };
        for (index, &item) in items.iter().enumerate() {
            match item.as_kind(Kind::Event) {
                Some(row) => {
                    let event = self.queue.take(row).ok_or((index, ReadError::EventUsedTwice))?;
                    if event.action == Action::UserDefined {
                        self.user_marks.extend(self.store.user_mark(&event).map(|mark| (trace, mark)));
                    }
                    self.seen.place(row, trace, read.events);
                    self.sink.event_at(trace, &event);
                    read.events += 1;
                }
                None if read.other.is_none() => read.other = Some((before + index as u64, item)),
                None => {}
            }
        }
        Ok(())
    }

    fn finish_list(&mut self, mode: Mode, items: &[Value]) -> Result<Value, ReadError> {
        match mode {
            Mode::Frames => {
                self.frame_ids.clear();
                self.frame_ids.extend(items.iter().map(|frame| frame.index()));
                let stack = self.store.stacks.intern(&self.frame_ids).ok_or(ReadError::TooMany("stacks"))?;
                Ok(Value::new(Kind::Stack, stack.0))
            }
            Mode::Events(trace) => Ok(Value::new(Kind::Trace, trace)),
            Mode::List | Mode::Dict if items.iter().all(|item| item.is(Kind::Int)) => {
                self.store.tuple(Kind::List, items)
            }
            Mode::List | Mode::Dict => self.store.container(Kind::List, items),
        }
    }
}

/// Appends a row to a table and returns its handle. Tables have fewer than 2^32 rows because of other limits.
fn push_row<T>(kind: Kind, table: &mut Vec<T>, row: T) -> Value {
    table.push(row);
    Value::new(kind, table.len() as u32 - 1)
}
