//! Receiver of a file's events: it records traces, or loads serialized histories.

use super::image::{Histories, Image};
use super::kept::Keep;
use super::trace::{EARLY, Trace};
use crate::snapshot::{Event, EventSink, Rows};

/// Maximum number of events in a trace. Moments and subjects are columns of 32 bits, and one bit of a subject marks
/// allocations from before recording.
pub const MOST_EVENTS: u32 = EARLY;

/// Traces of a file, ordered by the start of their lists.
#[derive(Debug)]
pub struct Recorder {
    pub(super) traces: Vec<Trace>,
    keep: Keep,
    most_events: u32,
    left_out: u64,
    /// Serialized histories that replace events, if this recorder accepts them.
    pub(super) image: Option<Box<dyn Histories>>,
}

impl Default for Recorder {
    fn default() -> Recorder {
        Recorder { traces: Vec::new(), keep: Keep::ALL, most_events: MOST_EVENTS, left_out: 0, image: None }
    }
}

impl Recorder {
    /// Creates a recorder that keeps only a range of each trace.
    pub fn keeping(keep: Keep) -> Recorder {
        Recorder { keep, ..Recorder::default() }
    }

    /// Makes the recorder accept serialized histories. Programs that never call this do not link the code.
    pub fn take_histories(&mut self) {
        self.image = Some(Box::<Image>::default());
    }

    /// Number of events that were dropped because their trace exceeds [`MOST_EVENTS`]. Without them the history is
    /// wrong.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Number of events recorded in all traces.
    pub fn events(&self) -> u64 {
        let of_image = self.image.iter().map(|image| image.events());
        self.traces.iter().map(|trace| u64::from(trace.events.len()) + trace.outside.behind).chain(of_image).sum()
    }

    /// Size on the heap by table, in bytes.
    pub fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let of_image = self.image.iter().map(|image| ("histories", image.heap_bytes()));
        self.traces.iter().flat_map(Trace::heap_bytes).chain(of_image).collect()
    }
}

impl EventSink for Recorder {
    fn event(&mut self, trace: u32, event: &Event) {
        let trace = trace as usize;
        if self.traces.len() <= trace {
            let keep = self.keep;
            self.traces.resize_with(trace + 1, || Trace::keeping(keep));
        }
        match self.traces.get_mut(trace).filter(|trace| trace.events.len() < self.most_events) {
            Some(trace) => trace.event(event),
            None => self.left_out += 1,
        }
    }

    fn image(&mut self, part: &[u8]) -> bool {
        self.keep.is_all() && self.image.as_mut().is_some_and(|image| image.part(part))
    }

    fn end(&mut self, rows: Rows) -> bool {
        let Some(image) = self.image.as_mut().filter(|image| image.has_any()) else { return true };
        self.traces.is_empty() && image.end(rows)
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/replay/recorder.rs"]
mod tests;
