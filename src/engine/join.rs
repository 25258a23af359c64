//! Events on their way to the recorder: of any file as they are, of SnapViewer's `elements.json` each in its turn and with the frees
//! that its drawing tells of.

use super::protocol::LoadRange;
use super::spans::{JoinError, Span, Spans};
use history::replay::Recorder;
use history::snapshot::{Action, Event, EventSink, LabelsId, NO_TIME, Rows, StackId};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Events recorded in one call of [`Events::settle`]: one element may free all that live. Well under a millisecond.
const RECORDED_AT_ONCE: u32 = 2048;

/// Receives events. One type for both, since all that reads is made again for each type that receives.
#[derive(Default)]
pub(super) struct Events {
    recorder: Recorder,
    join: Option<Box<Join>>,
}

/// What `elements.json` is joined with.
struct Join {
    spans: Spans,
    /// Elements that were decoded and not recorded.
    waiting: VecDeque<Event>,
    /// The number of the first of them.
    next: u64,
    /// What is to be freed: timestep, address, bytes.
    live: BinaryHeap<Reverse<(i64, u64, u64)>>,
}

impl Events {
    /// Takes histories in place of events as well.
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
    /// Records the next event: an element, or a free that comes before it; of the frees at the end when there is no element left.
    /// `false` when nothing is left to record.
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

    /// Records the next free up to this timestep, if there is one. The file keeps neither its time nor its stack.
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

/// What [`Events::settle`] has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    All,
    Some,
}

/// What follows what was decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    Open,
    Ended,
}

impl Events {
    /// The sink of `elements.json`.
    pub(super) fn of_elements(spans: Spans) -> Events {
        let join = Join { spans, waiting: VecDeque::new(), next: 0, live: BinaryHeap::new() };
        Events { recorder: Recorder::default(), join: Some(Box::new(join)) }
    }

    /// Keeps only these events; there are none yet.
    pub(super) fn keep(&mut self, load: LoadRange) {
        self.recorder = Recorder::keeping(load.into());
    }

    /// Records some of what was decoded.
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

    /// What was recorded so far.
    pub(super) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// How many events were recorded, over all traces.
    pub(super) fn events(&self) -> u64 {
        self.recorder.events()
    }

    /// All that was recorded; call it when all is settled and ended.
    ///
    /// # Errors
    /// The drawing and the elements are not of one history.
    pub(super) fn finish(self) -> Result<Recorder, JoinError> {
        match self.join {
            Some(join) if join.next != u64::from(join.spans.count()) => {
                Err(JoinError::Lengths(join.spans.count(), join.next))
            }
            _ => Ok(self.recorder),
        }
    }

    /// Bytes on the heap, by table.
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
