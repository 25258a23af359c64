//! Event sink in front of the recorder. It passes events of most files on unchanged. For SnapViewer files, it merges
//! the events of `elements.json` with frees derived from `allocations.json`.

use super::spans::{JoinError, Span, Spans};
use base::heap::HeapBytes;
use history::replay::Recorder;
use history::snapshot::{Action, Event, EventSink, LabelsId, NO_TIME, Rows, StackId};
use protocol::LoadRange;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Maximum number of events recorded by one call of [`RecordingSink::record_pending`], which then takes well under a
/// millisecond. The limit is needed because frees of all live allocations may precede a single element.
const MAX_EVENTS_PER_CALL: u32 = 2048;

/// Event sink of all readers, with or without merging. A single type is used because readers are compiled once per sink
/// type.
#[derive(Default)]
pub(super) struct RecordingSink {
    recorder: Recorder,
    merge: Option<Box<ElementMerge>>,
}

/// State of merging `elements.json` with the frees derived from `allocations.json`.
struct ElementMerge {
    spans: Spans,
    /// Events of `elements.json` that are decoded but not recorded yet.
    pending_elements: VecDeque<Event>,
    /// Index of the first pending element.
    next_element: u64,
    /// Frees that are not recorded yet: time step, address, and size in bytes.
    pending_frees: BinaryHeap<Reverse<(i64, u64, u64)>>,
}

base::heap_bytes!(ElementMerge: spans, pending_elements, pending_frees);

impl RecordingSink {
    /// Makes the sink accept cached histories as well as events.
    pub(super) fn accept_histories(&mut self) {
        self.recorder.accept_histories();
    }
}

impl EventSink for RecordingSink {
    #[inline(always)]
    fn event_at(&mut self, trace: u32, event: &Event) {
        match &mut self.merge {
            None => self.recorder.event_at(trace, event),
            Some(join) if trace == 0 => join.pending_elements.push_back(*event),
            Some(_) => {}
        }
    }

    fn history_part(&mut self, part: &[u8]) -> bool {
        self.merge.is_none() && self.recorder.history_part(part)
    }

    fn end(&mut self, rows: Rows) -> bool {
        self.recorder.end(rows)
    }
}

impl ElementMerge {
    /// Records the next event: an element, or a free that comes before the element. Returns false if no element is
    /// pending.
    fn record(&mut self, recorder: &mut Recorder) -> bool {
        let Some(&event) = self.pending_elements.front() else { return false };
        if let Some(Span { first, last }) = self.spans.get(self.next_element) {
            let is_alloc = event.action == Action::Alloc;
            if self.record_free_until(if is_alloc { first } else { last }, recorder) {
                return true;
            }
            recorder.event_at(0, &event);
            if is_alloc && last < self.spans.end() {
                self.pending_frees.push(Reverse((last, event.address, event.size)));
            }
        }
        self.next_element += 1;
        self.pending_elements.pop_front();
        true
    }

    /// Records the next free up to the time step `step`. Returns false if there is none. The recorded free has no time
    /// and no stack, because the file contains neither.
    fn record_free_until(&mut self, step: i64, recorder: &mut Recorder) -> bool {
        let Some(&Reverse((_, address, size))) = self.pending_frees.peek().filter(|Reverse((last, ..))| *last <= step)
        else {
            return false;
        };
        self.pending_frees.pop();
        let (time_us, stack, labels) = (NO_TIME, StackId::NONE, LabelsId(u32::MAX));
        recorder.event_at(0, &Event { address, size, time_us, stack, labels, action: Action::FreeCompleted });
        true
    }
}

/// Result of [`RecordingSink::record_pending`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PendingWork {
    Done,
    More,
}

/// State of the input: open if more bytes may follow, or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputState {
    Open,
    Ended,
}

impl RecordingSink {
    /// Creates a sink for the events of `elements.json`. `spans` are the lifetimes in `allocations.json`.
    pub(super) fn for_elements(spans: Spans) -> RecordingSink {
        let join = ElementMerge {
            spans,
            pending_elements: VecDeque::new(),
            next_element: 0,
            pending_frees: BinaryHeap::new(),
        };
        RecordingSink { recorder: Recorder::default(), merge: Some(Box::new(join)) }
    }

    /// Sets the range of events to load. Must be called before the first event.
    pub(super) fn set_range(&mut self, load: LoadRange) {
        self.recorder = Recorder::with_range(load.into());
    }

    /// Records some of the pending elements and frees. Returns [`PendingWork::More`] if it has to be called again.
    pub(super) fn record_pending(&mut self, rest: InputState) -> PendingWork {
        let Some(join) = &mut self.merge else { return PendingWork::Done };
        for _ in 0..MAX_EVENTS_PER_CALL {
            let end = join.spans.end();
            if !join.record(&mut self.recorder)
                && (rest == InputState::Open || !join.record_free_until(end, &mut self.recorder))
            {
                return PendingWork::Done;
            }
        }
        PendingWork::More
    }

    pub(super) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Returns the number of events recorded, over all traces.
    pub(super) fn events(&self) -> u64 {
        self.recorder.events()
    }

    /// Returns the recorder. [`RecordingSink::record_pending`] must have returned [`PendingWork::Done`] for
    /// [`InputState::Ended`].
    ///
    /// # Errors
    /// Returns an error if `allocations.json` and `elements.json` have different lengths.
    pub(super) fn finish(self) -> Result<Recorder, JoinError> {
        match self.merge {
            Some(join) if join.next_element != u64::from(join.spans.count()) => {
                Err(JoinError::Lengths(join.spans.count(), join.next_element))
            }
            _ => Ok(self.recorder),
        }
    }

    /// Returns the heap usage in bytes of each table.
    pub(super) fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let mut bytes = self.recorder.heap_bytes();
        if let Some(join) = &self.merge {
            bytes.push(("SnapViewer's timesteps", join.heap_bytes()));
        }
        bytes
    }
}

#[cfg(test)]
#[path = "../../tests/units/intake/join.rs"]
mod tests;
