//! Keyboard shortcuts of the Segments tab.

use super::SegmentsStep;
use crate::binding::{Binding, KeyScope, bind};
use crate::tab::Tab;

pub(super) const KEYS: &[Binding<SegmentsStep>] = {
    use SegmentsStep::*;
    const AT: KeyScope = KeyScope::Tab(Tab::Segments);
    &[
        bind(AT, &["ArrowLeft"], PreviousBlock, "Go to the previous block", "segments-before"),
        bind(AT, &["ArrowRight"], NextBlock, "Go to the next block", "segments-after"),
        bind(AT, &["ArrowUp"], PreviousSegment, "Go to the previous segment", "segments-segment-before"),
        bind(AT, &["ArrowDown"], NextSegment, "Go to the next segment", "segments-segment-after"),
        bind(AT, &["Home"], First, "Go to the first block", "segments-first"),
        bind(AT, &["End"], Last, "Go to the last block", "segments-last"),
        bind(AT, &["Enter"], Select, "Select the block", "segments-select"),
        bind(AT, &["+", "="], ZoomIn, "Zoom in", "segments-in"),
        bind(AT, &["-", "_"], ZoomOut, "Zoom out", "segments-out"),
        bind(AT, &["0"], Fit, "Fit all segments", "segments-fit"),
        bind(AT, &["s"], NextSort, "Sort the segments by the next criterion", "segments-sort"),
        bind(AT, &["p"], NextPool, "Show only the next pool, or all pools", "segments-pool"),
        bind(AT, &["t"], NextStream, "Show only the next stream, or all streams", "segments-stream"),
        bind(AT, &["r"], TypeRequest, "Simulate a request: where would it go?", "segments-request"),
        bind(AT, &["Shift+ArrowLeft"], CursorBack, "Move the cursor back one event", "segments-earlier"),
        bind(AT, &["Shift+ArrowRight"], CursorForward, "Move the cursor forward one event", "segments-later"),
    ]
};
