//! Receiver of a file's events, which records traces or loads serialized histories.

use super::image::{HistoryLoader, ImageReader};
use super::loaded_range::KeepRange;
use super::trace::{EARLY_BIT, Trace};
use crate::snapshot::{Event, EventSink, Rows};
use base::heap::HeapBytes;

/// Maximum number of events in a trace. Moments and subjects are stored in 32 bits, and one bit of a subject marks
/// allocations from before recording.
pub const MAX_EVENTS: u32 = EARLY_BIT;

/// Traces of a file, sorted by the position of their lists in the file.
#[derive(Debug)]
pub struct Recorder {
    pub(super) traces: Vec<Trace>,
    keep: KeepRange,
    max_events: u32,
    dropped_events: u64,
    /// Serialized histories that replace events, if this recorder accepts them.
    pub(super) image: Option<Box<dyn HistoryLoader>>,
}

impl Default for Recorder {
    fn default() -> Recorder {
        Recorder { traces: Vec::new(), keep: KeepRange::ALL, max_events: MAX_EVENTS, dropped_events: 0, image: None }
    }
}

impl Recorder {
    /// Creates a recorder that keeps only a range of each trace.
    pub fn with_range(keep: KeepRange) -> Recorder {
        Recorder { keep, ..Recorder::default() }
    }

    /// Makes the recorder accept serialized histories. Programs that never call this function do not link the loader.
    pub fn accept_histories(&mut self) {
        self.image = Some(Box::<ImageReader>::default());
    }

    /// Returns the number of events that were dropped because their trace exceeds [`MAX_EVENTS`]. If any were dropped,
    /// the history is wrong.
    pub fn dropped_events(&self) -> u64 {
        self.dropped_events
    }

    /// Returns the number of events in all traces.
    pub fn events(&self) -> u64 {
        let image_events = self.image.iter().map(|image| image.events());
        self.traces
            .iter()
            .map(|trace| u64::from(trace.events.len()) + trace.outside.later_events)
            .chain(image_events)
            .sum()
    }

    /// Returns the heap size of each table, in bytes.
    pub fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let image_bytes = self.image.iter().map(|image| ("histories", image.heap_bytes()));
        self.traces.iter().flat_map(Trace::heap_bytes).chain(image_bytes).collect()
    }
}

impl EventSink for Recorder {
    fn event_at(&mut self, trace: u32, event: &Event) {
        let trace = trace as usize;
        if self.traces.len() <= trace {
            let keep = self.keep;
            self.traces.resize_with(trace + 1, || Trace::with_range(keep));
        }
        match self.traces.get_mut(trace).filter(|trace| trace.events.len() < self.max_events) {
            Some(trace) => trace.event(event),
            None => self.dropped_events += 1,
        }
    }

    fn history_part(&mut self, part: &[u8]) -> bool {
        self.keep.is_all() && self.image.as_mut().is_some_and(|image| image.part(part))
    }

    fn end(&mut self, rows: Rows) -> bool {
        let Some(image) = self.image.as_mut().filter(|image| image.has_parts()) else { return true };
        self.traces.is_empty() && image.end(rows)
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/replay/recorder.rs"]
mod tests;
