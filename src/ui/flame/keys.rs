//! The keys of the flame graph.

use super::FlameStep;
use crate::binding::{Binding, Scope, line};

/// Its keys.
pub(super) const KEYS: &[Binding<FlameStep>] = {
    use FlameStep::*;
    use Scope::Flame;
    &[
        line(Flame, &["ArrowUp"], Up, "To the box above", "flame-up"),
        line(Flame, &["ArrowDown"], Down, "To the box below, the heaviest", "flame-down"),
        line(Flame, &["ArrowLeft"], Left, "To the box at the left", "flame-left"),
        line(Flame, &["ArrowRight"], Right, "To the box at the right", "flame-right"),
        line(Flame, &["Enter", "+"], ZoomIn, "Zoom to the selected box", "flame-in"),
        line(Flame, &["Backspace", "-"], ZoomOut, "Zoom out by a box", "flame-out"),
        line(Flame, &["0"], ZoomOutFully, "Show everything", "flame-all"),
        line(Flame, &["f"], Turn, "Root at the top or at the bottom", "flame-turn"),
        line(Flame, &["r"], Invert, "Innermost or outermost frames at the root", "flame-invert"),
        line(Flame, &["h"], HideInternal, "Leave out internal frames, or not", "flame-internal"),
        line(Flame, &["m"], MergeOther, "Merge frames by line, function or file", "flame-merge"),
    ]
};
