//! Event sink in front of the recorder. Events of most files pass unchanged. Those of SnapViewer's `elements.json` are
//! merged with the frees derived from its drawing.

use super::protocol::LoadRange;
use super::spans::{JoinError, Span, Spans};
use history::replay::Recorder;
use history::snapshot::{Action, Event, EventSink, LabelsId, NO_TIME, Rows, StackId};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Maximum number of events recorded in one call of [`Events::settle`], well under a millisecond. A single element may
/// free everything that is live.
const RECORDED_AT_ONCE: u32 = 2048;

/// Event sink of all readers. One type serves both cases, because readers are compiled once per sink type.
#[derive(Default)]
pub(super) struct Events {
    recorder: Recorder,
    join: Option<Box<Join>>,
}

/// State of merging `elements.json` with the drawing.
struct Join {
    spans: Spans,
    /// Elements that are decoded but not recorded yet.
    waiting: VecDeque<Event>,
    /// Index of the first of these.
    next: u64,
    /// Frees to come: time step, address, bytes.
    live: BinaryHeap<Reverse<(i64, u64, u64)>>,
}

impl Events {
    /// Accepts cached histories in place of events as well.
    pub(super) fn take_histories(&mut self) {
        self.recorder.take_histories();
    }
}

impl EventSink for Events {
    #[inline(always)]
    fn event(&mut self, trace: u32, event: &Event) {
        match &mut self.join {
            None => self.recorder.event(trace, event),
            Some(join) if trace == 0 => join.waiting.push_back(*event),
            Some(_) => {}
        }
    }

    fn image(&mut self, part: &[u8]) -> bool {
        self.join.is_none() && self.recorder.image(part)
    }

    fn end(&mut self, rows: Rows) -> bool {
        self.recorder.end(rows)
    }
}

impl Join {
    /// Records the next event: an element, or a free that comes before it. Returns false if no element is waiting.
    fn record(&mut self, recorder: &mut Recorder) -> bool {
        let Some(&event) = self.waiting.front() else { return false };
        if let Some(Span { first, last }) = self.spans.get(self.next) {
            let is_alloc = event.action == Action::Alloc;
            if self.free_until(if is_alloc { first } else { last }, recorder) {
                return true;
            }
            recorder.event(0, &event);
            if is_alloc && last < self.spans.end() {
                self.live.push(Reverse((last, event.address, event.size)));
            }
        }
        self.next += 1;
        self.waiting.pop_front();
        true
    }

    /// Records the next free up to this time step and returns whether there was one. The file has neither its time nor
    /// its stack.
    fn free_until(&mut self, step: i64, recorder: &mut Recorder) -> bool {
        let Some(&Reverse((_, address, size))) = self.live.peek().filter(|Reverse((last, ..))| *last <= step) else {
            return false;
        };
        self.live.pop();
        let (time_us, stack, labels) = (NO_TIME, StackId::NONE, LabelsId(u32::MAX));
        recorder.event(0, &Event { address, size, time_us, stack, labels, action: Action::FreeCompleted });
        true
    }
}

/// Result of [`Events::settle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    All,
    Some,
}

/// State of the input after what was decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    Open,
    Ended,
}

impl Events {
    /// Creates the sink for `elements.json`.
    pub(super) fn of_elements(spans: Spans) -> Events {
        let join = Join { spans, waiting: VecDeque::new(), next: 0, live: BinaryHeap::new() };
        Events { recorder: Recorder::default(), join: Some(Box::new(join)) }
    }

    /// Sets the range of events to keep. Must be called before the first event.
    pub(super) fn keep(&mut self, load: LoadRange) {
        self.recorder = Recorder::keeping(load.into());
    }

    /// Records some of the decoded elements.
    pub(super) fn settle(&mut self, rest: Rest) -> Settled {
        let Some(join) = &mut self.join else { return Settled::All };
        for _ in 0..RECORDED_AT_ONCE {
            let end = join.spans.end();
            if !join.record(&mut self.recorder) && (rest == Rest::Open || !join.free_until(end, &mut self.recorder)) {
                return Settled::All;
            }
        }
        Settled::Some
    }

    pub(super) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Returns the number of events recorded, over all traces.
    pub(super) fn events(&self) -> u64 {
        self.recorder.events()
    }

    /// Returns the recorder. Call this once everything is settled with [`Rest::Ended`].
    ///
    /// # Errors
    /// The drawing and the elements have different lengths.
    pub(super) fn finish(self) -> Result<Recorder, JoinError> {
        match self.join {
            Some(join) if join.next != u64::from(join.spans.count()) => {
                Err(JoinError::Lengths(join.spans.count(), join.next))
            }
            _ => Ok(self.recorder),
        }
    }

    /// Returns the bytes on the heap, by table.
    pub(super) fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let mut bytes = self.recorder.heap_bytes();
        if let Some(join) = &self.join {
            let waiting = join.waiting.capacity() * size_of::<Event>();
            let live = join.live.capacity() * size_of::<Reverse<(i64, u64, u64)>>();
            bytes.push(("SnapViewer's timesteps", join.spans.heap_bytes() + waiting + live));
        }
        bytes
    }
}

#[cfg(test)]
#[path = "../../tests/units/engine/join.rs"]
mod tests;
