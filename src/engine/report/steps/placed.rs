//! Placement of annotations in the trace: conversion of wall-clock times to moments.

use crate::marks::annotation_span;
use crate::protocol::Span;
use base::slice::{Slice, Sliced};
use history::replay::{AnnotationRange, DeviceHistory};

/// Annotation that overlaps the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) struct PlacedAnnotation {
    /// Row in [`DeviceHistory::annotations`].
    pub(in crate::report) row: u32,
    /// Number of annotations that started earlier and are still open at its start.
    pub(in crate::report) depth: u32,
}

/// Annotations of a device that overlap its trace, sorted by start.
#[derive(Default)]
pub(in crate::report) struct Placed {
    pub(in crate::report) places: Vec<PlacedAnnotation>,
    /// Ranges of moments, from the state before the first event to the state after the last. Events at the exact
    /// start or end time are included. An annotation without an end goes on to the end of the trace.
    pub(in crate::report) spans: Vec<Span>,
    /// Rows that ended before the first event or started after the last.
    pub(in crate::report) outside: Vec<u32>,
    /// Number of all annotations if the trace has no times, so none can be placed.
    pub(in crate::report) timeless: usize,
    next: usize,
    /// End times of the open annotations. `i64::MAX` for those without an end.
    open: Vec<i64>,
}

impl Placed {
    /// Places the annotations.
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
            // Overlapping annotations count as nested.
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

/// Returns the end time in µs, at least the start time.
fn end_us(range: &AnnotationRange) -> i64 {
    range.end_us.map_or(i64::MAX, |end| end.max(range.start_us))
}
