//! Keyboard shortcuts of the Segments tab.

use super::MemoryStep;
use crate::binding::{Binding, Scope, line};
use crate::tab::Tab;

pub(super) const KEYS: &[Binding<MemoryStep>] = {
    use MemoryStep::*;
    const AT: Scope = Scope::Tab(Tab::Memory);
    &[
        line(AT, &["ArrowLeft"], Before, "Go to the previous block", "memory-before"),
        line(AT, &["ArrowRight"], After, "Go to the next block", "memory-after"),
        line(AT, &["ArrowUp"], SegmentBefore, "Go to the previous segment", "memory-segment-before"),
        line(AT, &["ArrowDown"], SegmentAfter, "Go to the next segment", "memory-segment-after"),
        line(AT, &["Home"], First, "Go to the first block", "memory-first"),
        line(AT, &["End"], Last, "Go to the last block", "memory-last"),
        line(AT, &["Enter"], Select, "Select the block", "memory-select"),
        line(AT, &["+", "="], ZoomIn, "Zoom in", "memory-in"),
        line(AT, &["-", "_"], ZoomOut, "Zoom out", "memory-out"),
        line(AT, &["0"], Fit, "Fit all segments", "memory-fit"),
        line(AT, &["s"], NextSort, "Sort the segments by the next criterion", "memory-sort"),
        line(AT, &["p"], NextPool, "Show only the next pool, or all pools", "memory-pool"),
        line(AT, &["t"], NextStream, "Show only the next stream, or all streams", "memory-stream"),
        line(AT, &["r"], TypeRequest, "Simulate a request: where would it go?", "memory-request"),
        line(AT, &["Shift+ArrowLeft"], Earlier, "Move the cursor back one event", "memory-earlier"),
        line(AT, &["Shift+ArrowRight"], Later, "Move the cursor forward one event", "memory-later"),
    ]
};
