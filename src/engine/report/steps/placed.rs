//! Where annotations lie in the trace: ranges of wall-clock become ranges of moments, in slices.

use crate::marks::annotation_span;
use crate::protocol::Span;
use base::slice::{Slice, Sliced};
use history::replay::{AnnotationRange, DeviceHistory};

/// An annotation that has a place in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) struct PlacedAnnotation {
    /// Its row in [`DeviceHistory::annotations`].
    pub(in crate::report) row: u32,
    /// In how many others it lies that began before it and are not over where it begins.
    pub(in crate::report) depth: u32,
}

/// The annotations of a device that lie in its trace, by start.
#[derive(Default)]
pub(in crate::report) struct Placed {
    pub(in crate::report) places: Vec<PlacedAnnotation>,
    /// From the state before its first event to the one after its last: events at its start and at its end are in it, on the axis
    /// of time, which never goes back. One that never ended goes on to the end of the trace.
    pub(in crate::report) spans: Vec<Span>,
    /// The rows that were over before the first event, or began after the last: what was live then is not recorded.
    pub(in crate::report) outside: Vec<u32>,
    /// All there are, where the trace has no times, so that none can be placed.
    pub(in crate::report) timeless: usize,
    next: usize,
    /// Where those end that are open; `i64::MAX` for one that never does.
    open: Vec<i64>,
}

impl Placed {
    /// Places them.
    pub(super) fn step(&mut self, history: &DeviceHistory, slice: &mut Slice) -> Sliced {
        let Some(clock) = history.events.times.clock() else {
            self.timeless = history.annotations.len();
            return Ok(());
        };
        let last_us = history.numbers.time_us.map_or(i64::MAX, |(_, last)| last);
        for range in history.annotations.iter().skip(self.next) {
            slice.tick()?;
            let row = self.next as u32;
            self.next += 1;
            let end_us = end_us(range);
            // Of those inside each other the innermost stands last; what overlaps without that counts as inside.
            while self.open.last().is_some_and(|&end| end < range.start_us) {
                self.open.pop();
            }
            let depth = self.open.len() as u32;
            self.open.push(end_us);
            if end_us < clock.first_us() || range.start_us > last_us {
                self.outside.push(row);
                continue;
            }
            self.places.push(PlacedAnnotation { row, depth });
            self.spans.push(annotation_span(history, clock, range));
        }
        Ok(())
    }
}

/// When it ends; an end before its start is its start.
fn end_us(range: &AnnotationRange) -> i64 {
    range.end_us.map_or(i64::MAX, |end| end.max(range.start_us))
}
