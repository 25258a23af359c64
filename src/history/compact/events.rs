//! Decoder of event sections. Each step decodes a few thousand events.

use super::format::{MAX_EVENTS, column};
use super::numbers::NumberReader;
use super::trace::Trace;
use crate::snapshot::{EventSink, LabelsId, StackId};

/// Number of events decoded in one step, which takes well under a millisecond.
const EVENTS_PER_STEP: usize = 2048;

/// Maximum number of traces in a file, the same as for pickles. Each trace needs a few kilobytes of memory.
pub(super) const MAX_TRACES: u32 = 1 << 16;

/// Decoder of the event sections of all traces.
#[derive(Default)]
pub(super) struct EventDecoder {
    trace: Trace,
    pub(super) traces: u32,
    /// Current position and end of each column in the payload. `None` between sections.
    columns: Option<[(usize, usize); column::COUNT]>,
    /// One more than the highest stack id of any event. It is validated at the end of the file, because the stack table
    /// follows the events.
    pub(super) stacks: u32,
    /// One more than the highest label id of any event. It is validated at the end of the file too.
    pub(super) labels: u32,
}

base::heap_bytes!(EventDecoder: trace);

impl EventDecoder {
    /// Starts a section. Returns `false` if its header is invalid.
    pub(super) fn start_section(&mut self, payload: &[u8]) -> bool {
        let mut numbers = NumberReader::new(payload);
        let (trace, count) = (numbers.unsigned(), numbers.unsigned());
        let next = u64::from(self.traces);
        if trace == next && self.traces < MAX_TRACES {
            self.trace = Trace::default();
            self.traces += 1;
        } else if Some(trace) != next.checked_sub(1) {
            return false;
        }
        let Some(columns) = numbers.columns::<{ column::COUNT }>() else { return false };
        if columns[column::KINDS].bytes_left() as u64 != count || count > MAX_EVENTS as u64 {
            return false;
        }
        // The columns fill the payload to its end, one after another.
        let mut end = payload.len() - columns.iter().map(NumberReader::bytes_left).sum::<usize>();
        self.columns = Some(columns.map(|column| {
            let begin = end;
            end += column.bytes_left();
            (begin, end)
        }));
        true
    }

    /// Decodes the next events and passes them to the sink. Returns whether the section has more events, or `None` if
    /// the section is invalid.
    pub(super) fn step(&mut self, payload: &[u8], sink: &mut impl EventSink) -> Option<bool> {
        let places = self.columns.take()?;
        let number = self.traces.checked_sub(1)?;
        let mut columns = places.map(|(begin, end)| NumberReader::new(payload.get(begin..end).unwrap_or_default()));
        let count = columns[column::KINDS].bytes_left().min(EVENTS_PER_STEP);
        for _ in 0..count {
            let event = self.trace.event(&mut columns);
            if event.stack != StackId::NONE {
                self.stacks = self.stacks.max(event.stack.0.saturating_add(1));
            }
            // SnapViewer's frees have no labels, not even empty ones.
            if event.labels != LabelsId(u32::MAX) {
                self.labels = self.labels.max(event.labels.0 + 1);
            }
            sink.event_at(number, &event);
        }
        if columns[column::KINDS].bytes_left() == 0 {
            return columns.iter().all(NumberReader::is_finished).then_some(false);
        }
        let sound = columns.iter().all(NumberReader::is_sound);
        let mut places = places;
        for (place, column) in places.iter_mut().zip(&columns) {
            place.0 = place.1 - column.bytes_left();
        }
        self.columns = Some(places);
        sound.then_some(true)
    }

    /// Returns whether a section has been started and not finished.
    pub(super) fn is_open(&self) -> bool {
        self.columns.is_some()
    }
}
