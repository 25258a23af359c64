//! Keyboard shortcuts of the Segments tab.

use super::SegmentsStep;
use crate::binding::{Binding, KeyScope, bind};
use crate::tab::Tab;

pub(super) const KEYS: &[Binding<SegmentsStep>] = {
    use SegmentsStep::*;
    const AT: KeyScope = KeyScope::Tab(Tab::Segments);
    &[
        bind(AT, &["ArrowLeft"], PreviousBlock, "Go to the previous block", "memory-before"),
        bind(AT, &["ArrowRight"], NextBlock, "Go to the next block", "memory-after"),
        bind(AT, &["ArrowUp"], PreviousSegment, "Go to the previous segment", "memory-segment-before"),
        bind(AT, &["ArrowDown"], NextSegment, "Go to the next segment", "memory-segment-after"),
        bind(AT, &["Home"], First, "Go to the first block", "memory-first"),
        bind(AT, &["End"], Last, "Go to the last block", "memory-last"),
        bind(AT, &["Enter"], Select, "Select the block", "memory-select"),
        bind(AT, &["+", "="], ZoomIn, "Zoom in", "memory-in"),
        bind(AT, &["-", "_"], ZoomOut, "Zoom out", "memory-out"),
        bind(AT, &["0"], Fit, "Fit all segments", "memory-fit"),
        bind(AT, &["s"], NextSort, "Sort the segments by the next criterion", "memory-sort"),
        bind(AT, &["p"], NextPool, "Show only the next pool, or all pools", "memory-pool"),
        bind(AT, &["t"], NextStream, "Show only the next stream, or all streams", "memory-stream"),
        bind(AT, &["r"], TypeRequest, "Simulate a request: where would it go?", "memory-request"),
        bind(AT, &["Shift+ArrowLeft"], CursorBack, "Move the cursor back one event", "memory-earlier"),
        bind(AT, &["Shift+ArrowRight"], CursorForward, "Move the cursor forward one event", "memory-later"),
    ]
};
