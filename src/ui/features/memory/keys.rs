//! The keys of the view of the allocator's state.

use super::MemoryStep;
use crate::binding::{Binding, Scope, line};
use crate::tab::Tab;

/// Its keys.
pub(super) const KEYS: &[Binding<MemoryStep>] = {
    use MemoryStep::*;
    const AT: Scope = Scope::Tab(Tab::Memory);
    &[
        line(AT, &["ArrowLeft"], Before, "Block before", "memory-before"),
        line(AT, &["ArrowRight"], After, "Block after", "memory-after"),
        line(AT, &["ArrowUp"], SegmentBefore, "Segment before", "memory-segment-before"),
        line(AT, &["ArrowDown"], SegmentAfter, "Segment after", "memory-segment-after"),
        line(AT, &["Home"], First, "First block", "memory-first"),
        line(AT, &["End"], Last, "Last block", "memory-last"),
        line(AT, &["Enter"], Select, "Select the block", "memory-select"),
        line(AT, &["+", "="], ZoomIn, "Fewer bytes a pixel", "memory-in"),
        line(AT, &["-", "_"], ZoomOut, "More bytes a pixel", "memory-out"),
        line(AT, &["0"], Fit, "All of it", "memory-fit"),
        line(AT, &["s"], NextSort, "Segments in another order", "memory-sort"),
        line(AT, &["p"], NextPool, "The next pool alone, or all", "memory-pool"),
        line(AT, &["t"], NextStream, "The next stream alone, or all", "memory-stream"),
        line(AT, &["r"], TypeRequest, "Type a request: where would it go?", "memory-request"),
        line(AT, &["Shift+ArrowLeft"], Earlier, "The moment one event earlier", "memory-earlier"),
        line(AT, &["Shift+ArrowRight"], Later, "The moment one event later", "memory-later"),
    ]
};
