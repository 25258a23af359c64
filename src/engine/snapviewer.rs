//! SnapViewer's zip: its drawing (`allocations.json`) joined with the events it was drawn from (`elements.json`).
//!
//! ```text
//! allocations.json   [{"elem": 1, "timesteps": [0, 7], "offsets": [0, 0], "size": 512, "color": …}, …]   in drawing order
//! elements.json      [{"action": "free_completed", "addr": …, "frames": […]}, {"action": "alloc", …}, …]  in order of time
//! ```
//!
//! `elem` is the index into the elements: one for each alloc, and one for each free of a block that was never alloc'd. (SnapViewer
//! itself takes the element of the same row, which is another one as soon as there is such a free.) The first timestep is the
//! alloc, the last one the free; of what reaches the last timestep of all, we say that it is live at the end. Steps, not the
//! polygon between them, are kept: the file may have many more points than allocations.

use crate::json::{Limits, Machine};
use crate::pickle::Builder;
use crate::replay::Recorder;
use crate::snapshot::{Action, Event, EventSink, LabelsId, NO_TIME, Reader, StackId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The members of its archives, as it names them.
pub(super) const DRAWING: &str = "allocations.json";
pub(super) const ELEMENTS: &str = "elements.json";

/// Allocations of a drawing. SnapViewer holds all its points in memory, so its files are far smaller.
const MOST_ALLOCATIONS: usize = 1 << 24;

/// Why a drawing can't be joined with its elements.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum JoinError {
    /// The number of allocations, and that of elements.
    #[error("SnapViewer's allocations.json draws {0} allocations, its elements.json has {1} events")]
    Lengths(usize, usize),
    /// An allocation that is no dict with `elem`, `timesteps` and `size`; its place.
    #[error("allocations.json: [{0}] is not one of SnapViewer's allocations")]
    NotAnAllocation(usize),
    /// Two allocations of one element.
    #[error("allocations.json: two allocations have the elem {0}")]
    Twice(u32),
    /// More than we read.
    #[error("allocations.json draws more than {MOST_ALLOCATIONS} allocations")]
    TooMany,
}

/// Whether JSON that begins so is a drawing: its allocations have timesteps.
pub(super) fn is_drawing(text: &[u8]) -> bool {
    let key = b"\"timesteps\"";
    text.get(..1000).unwrap_or(text).windows(key.len()).any(|part| part == key)
}

/// When an element begins and ends, in SnapViewer's timesteps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    first: i64,
    last: i64,
}

/// Receives `allocations.json`.
#[derive(Default)]
pub(super) struct Drawing {
    open: Vec<Open>,
    /// `elem` of each allocation, in drawing order.
    elements: Vec<u32>,
    /// Its span.
    spans: Vec<Span>,
}

/// An open list or dict.
#[derive(Clone, Copy, Default)]
struct Open {
    items: u64,
    steps: Option<Span>,
    elem: Option<i64>,
    size: Option<i64>,
}

/// A value of the drawing, as far as we need it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    Other,
    Open(u32),
    Key(Key),
    Number(i64),
    /// The first and the last number of a list.
    Ends(i64, i64),
    Allocation,
}

/// The keys that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Elem,
    Timesteps,
    Size,
}

impl Builder for Drawing {
    type Value = Value;
    type Error = JoinError;

    fn open_handle(&self, slot: u32) -> Value {
        Value::Open(slot)
    }

    fn open_slot(&self, value: Value) -> Option<u32> {
        if let Value::Open(slot) = value { Some(slot) } else { None }
    }

    fn none(&mut self) -> Result<Value, JoinError> {
        Ok(Value::Other)
    }

    fn bool(&mut self, _: bool) -> Result<Value, JoinError> {
        Ok(Value::Other)
    }

    fn int(&mut self, value: i64) -> Result<Value, JoinError> {
        Ok(Value::Number(value))
    }

    fn big_int(&mut self, _: &[u8]) -> Result<Value, JoinError> {
        Ok(Value::Other)
    }

    fn float(&mut self, _: f64) -> Result<Value, JoinError> {
        Ok(Value::Other)
    }

    fn string(&mut self, bytes: &[u8]) -> Result<Value, JoinError> {
        Ok(match bytes {
            b"elem" => Value::Key(Key::Elem),
            b"timesteps" => Value::Key(Key::Timesteps),
            b"size" => Value::Key(Key::Size),
            _ => Value::Other,
        })
    }

    fn bytes(&mut self, _: &[u8]) -> Result<Value, JoinError> {
        Ok(Value::Other)
    }

    fn tuple(&mut self, _: &[Value]) -> Result<Value, JoinError> {
        Ok(Value::Other)
    }

    fn open_list(&mut self, slot: u32) {
        let slot = slot as usize;
        if self.open.len() <= slot {
            self.open.resize(slot + 1, Open::default());
        }
        if let Some(open) = self.open.get_mut(slot) {
            *open = Open::default();
        }
    }

    fn open_dict(&mut self, slot: u32) {
        self.open_list(slot);
    }

    fn append(&mut self, slot: u32, items: &[Value]) -> Result<(), (usize, JoinError)> {
        let Some(open) = self.open.get_mut(slot as usize) else { return Ok(()) };
        for (at, &item) in items.iter().enumerate() {
            match item {
                Value::Number(step) => {
                    open.steps = Some(Span { first: open.steps.map_or(step, |it| it.first), last: step });
                }
                // The outermost list holds allocations and nothing else.
                Value::Allocation => {}
                _ if slot == 0 => return Err((at, JoinError::NotAnAllocation(open.items as usize + at))),
                _ => {}
            }
        }
        open.items += items.len() as u64;
        Ok(())
    }

    fn set_items(&mut self, slot: u32, pairs: &[Value]) -> Result<(), (usize, JoinError)> {
        let Some(open) = self.open.get_mut(slot as usize) else { return Ok(()) };
        for pair in pairs.chunks_exact(2) {
            match pair {
                [Value::Key(Key::Elem), Value::Number(elem)] => open.elem = Some(*elem),
                [Value::Key(Key::Size), Value::Number(size)] => open.size = Some(*size),
                [Value::Key(Key::Timesteps), Value::Ends(first, last)] => {
                    open.steps = Some(Span { first: *first, last: *last });
                }
                _ => {}
            }
        }
        open.items += pairs.len() as u64 / 2;
        Ok(())
    }

    fn finish(&mut self, slot: u32) -> Result<Value, JoinError> {
        let Some(&Open { steps, elem, size, .. }) = self.open.get(slot as usize) else { return Ok(Value::Other) };
        Ok(match (steps, elem.and_then(|elem| u32::try_from(elem).ok()), size) {
            (Some(steps), Some(elem), Some(_)) => {
                if self.elements.len() >= MOST_ALLOCATIONS {
                    return Err(JoinError::TooMany);
                }
                self.elements.push(elem);
                self.spans.push(steps);
                Value::Allocation
            }
            (Some(steps), None, None) => Value::Ends(steps.first, steps.last),
            _ => Value::Other,
        })
    }

    fn open_len(&self, slot: u32) -> u64 {
        self.open.get(slot as usize).map_or(0, |open| open.items)
    }

    fn key_text(&self, key: Value) -> Option<String> {
        let Value::Key(key) = key else { return None };
        Some(match key {
            Key::Elem => "elem".to_owned(),
            Key::Timesteps => "timesteps".to_owned(),
            Key::Size => "size".to_owned(),
        })
    }
}

impl Drawing {
    /// A machine that reads `allocations.json`.
    pub(super) fn machine() -> Machine<Drawing> {
        Machine::new(Drawing::default(), Limits::default())
    }

    /// A machine that reads `elements.json`, to be joined with this drawing.
    ///
    /// # Errors
    /// Two allocations have one element, or one has an element that there can't be.
    pub(super) fn elements(self) -> Result<Machine<Reader<Events>>, JoinError> {
        let Drawing { elements, spans, .. } = self;
        let mut by_element = vec![None; elements.len()];
        for (&elem, &span) in elements.iter().zip(&spans) {
            let slot = by_element.get_mut(elem as usize);
            match slot.ok_or(JoinError::Lengths(elements.len(), elem as usize))? {
                Some(_) => return Err(JoinError::Twice(elem)),
                empty => *empty = Some(span),
            }
        }
        let end = spans.iter().map(|span| span.last).max().unwrap_or(0);
        let join = Join { spans: by_element, end, next: 0, live: BinaryHeap::new() };
        let events = Events { recorder: Recorder::default(), join: Some(Box::new(join)) };
        Ok(Machine::new(Reader::new(events), Limits::default()))
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.elements.capacity() * size_of::<u32>() + self.spans.capacity() * size_of::<Span>()
    }
}

/// Receives events: of any file as they are, of `elements.json` each alloc and each free in its turn. One type for both, since
/// all that reads is made anew for each type that receives.
#[derive(Default)]
pub(super) struct Events {
    recorder: Recorder,
    join: Option<Box<Join>>,
}

/// What `elements.json` is joined with.
struct Join {
    /// Of each element.
    spans: Vec<Option<Span>>,
    /// The last timestep.
    end: i64,
    /// The element that comes next.
    next: usize,
    /// What is to be freed: timestep, address, bytes.
    live: BinaryHeap<Reverse<(i64, u64, u64)>>,
}

impl EventSink for Events {
    #[inline]
    fn event(&mut self, trace: u32, event: &Event) {
        match &mut self.join {
            None => self.recorder.event(trace, event),
            Some(join) if trace == 0 => join.event(event, &mut self.recorder),
            Some(_) => {}
        }
    }
}

impl Join {
    fn event(&mut self, event: &Event, recorder: &mut Recorder) {
        let span = self.spans.get(self.next).copied().flatten();
        self.next += 1;
        let Some(Span { first, last }) = span else { return };
        let is_alloc = event.action == Action::Alloc;
        self.free_until(if is_alloc { first } else { last }, recorder);
        recorder.event(0, event);
        if is_alloc && last < self.end {
            self.live.push(Reverse((last, event.address, event.size)));
        }
    }

    /// Records the frees up to this timestep. The file keeps neither their times nor their stacks.
    fn free_until(&mut self, step: i64, recorder: &mut Recorder) {
        while let Some(&Reverse((last, address, size))) = self.live.peek() {
            if last > step {
                break;
            }
            self.live.pop();
            let (time_us, stack, labels) = (NO_TIME, StackId::NONE, LabelsId(u32::MAX));
            recorder.event(0, &Event { address, size, time_us, stack, labels, action: Action::FreeCompleted });
        }
    }
}

impl Events {
    /// How many events were recorded, over all traces.
    pub(super) fn events(&self) -> u64 {
        self.recorder.events()
    }

    /// All that was recorded.
    ///
    /// # Errors
    /// The drawing and the elements are not of one history.
    pub(super) fn finish(mut self) -> Result<Recorder, JoinError> {
        if let Some(join) = &mut self.join {
            if join.next != join.spans.len() {
                return Err(JoinError::Lengths(join.spans.len(), join.next));
            }
            join.free_until(join.end, &mut self.recorder);
        }
        Ok(self.recorder)
    }

    /// Bytes on the heap, by table.
    pub(super) fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let mut bytes = self.recorder.heap_bytes();
        if let Some(join) = &self.join {
            let own = join.spans.capacity() * size_of::<Option<Span>>() + join.live.capacity() * 24;
            bytes.push(("SnapViewer's timesteps", own));
        }
        bytes
    }
}
