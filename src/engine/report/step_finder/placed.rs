//! Positions of annotations in the trace. Their wall-clock times are converted to moments.

use crate::moments::annotation_span;
use base::slice::{SliceResult, TimeSlice};
use history::replay::{AnnotationRange, DeviceHistory};
use protocol::Span;

/// An annotation that overlaps the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) struct PlacedAnnotation {
    /// Index in [`DeviceHistory::annotations`].
    pub(in crate::report) row: u32,
    /// Number of earlier annotations that are still open when this one starts.
    pub(in crate::report) depth: u32,
}

/// Annotations of a device that overlap the trace, sorted by start.
#[derive(Default)]
pub(in crate::report) struct PlacedAnnotations {
    pub(in crate::report) annotations: Vec<PlacedAnnotation>,
    /// Range of each annotation, from the moment before its first event to the moment after its last one. Events
    /// exactly at its start or end are included. An annotation without an end lasts until the end of the trace.
    pub(in crate::report) spans: Vec<Span>,
    /// Indices of the annotations that ended before the first event of the trace, or started after its last event.
    pub(in crate::report) outside_rows: Vec<u32>,
    /// Number of annotations whose position is unknown because the trace has no times. 0 if the trace has times.
    pub(in crate::report) without_time: usize,
    next_row: usize,
    /// End time of each annotation that is currently open, in µs. `i64::MAX` for annotations without an end.
    open_ends_us: Vec<i64>,
}

base::heap_bytes!(PlacedAnnotations: annotations, spans);

impl PlacedAnnotations {
    /// Continues determining the positions of the annotations.
    pub(super) fn step(&mut self, history: &DeviceHistory, slice: &mut TimeSlice) -> SliceResult {
        let Some(clock) = history.events.times.time_axis() else {
            self.without_time = history.annotations.len();
            return Ok(());
        };
        let last_us = history.numbers.time_us.map_or(i64::MAX, |(_, last)| last);
        for range in history.annotations.iter().skip(self.next_row) {
            slice.tick()?;
            let row = self.next_row as u32;
            self.next_row += 1;
            let end_us = end_us(range);
            // Overlapping annotations count as nested.
            while self.open_ends_us.last().is_some_and(|&end| end < range.start_us) {
                self.open_ends_us.pop();
            }
            let depth = self.open_ends_us.len() as u32;
            self.open_ends_us.push(end_us);
            if end_us < clock.first_us() || range.start_us > last_us {
                self.outside_rows.push(row);
                continue;
            }
            self.annotations.push(PlacedAnnotation { row, depth });
            self.spans.push(annotation_span(history, clock, range));
        }
        Ok(())
    }
}

/// Returns the end time of an annotation in µs. It is never less than the start time.
fn end_us(range: &AnnotationRange) -> i64 {
    range.end_us.map_or(i64::MAX, |end| end.max(range.start_us))
}
