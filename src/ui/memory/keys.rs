//! The keys of the view of the allocator's state.

use super::MemoryStep;
use crate::binding::{Binding, Scope, line};

/// Its keys.
pub(super) const KEYS: &[Binding<MemoryStep>] = {
    use MemoryStep::*;
    use Scope::Memory;
    &[
        line(Memory, &["ArrowLeft"], Before, "Block before", "memory-before"),
        line(Memory, &["ArrowRight"], After, "Block after", "memory-after"),
        line(Memory, &["ArrowUp"], SegmentBefore, "Segment before", "memory-segment-before"),
        line(Memory, &["ArrowDown"], SegmentAfter, "Segment after", "memory-segment-after"),
        line(Memory, &["Home"], First, "First block", "memory-first"),
        line(Memory, &["End"], Last, "Last block", "memory-last"),
        line(Memory, &["Enter"], Select, "Select the block", "memory-select"),
        line(Memory, &["+", "="], ZoomIn, "Fewer bytes a pixel", "memory-in"),
        line(Memory, &["-", "_"], ZoomOut, "More bytes a pixel", "memory-out"),
        line(Memory, &["0"], Fit, "All of it", "memory-fit"),
        line(Memory, &["s"], NextSort, "Segments in another order", "memory-sort"),
        line(Memory, &["p"], NextPool, "The next pool alone, or all", "memory-pool"),
        line(Memory, &["t"], NextStream, "The next stream alone, or all", "memory-stream"),
        line(Memory, &["r"], TypeRequest, "Type a request: where would it go?", "memory-request"),
        line(Memory, &["Shift+ArrowLeft"], Earlier, "The moment one event earlier", "memory-earlier"),
        line(Memory, &["Shift+ArrowRight"], Later, "The moment one event later", "memory-later"),
    ]
};
