//! The keys of the flame graph.

use super::FlameStep;
use crate::binding::{Binding, Scope, line};
use crate::tab::Tab;

/// Its keys.
pub(super) const KEYS: &[Binding<FlameStep>] = {
    use FlameStep::*;
    const AT: Scope = Scope::Tab(Tab::Flame);
    &[
        line(AT, &["ArrowUp"], Up, "To the box above", "flame-up"),
        line(AT, &["ArrowDown"], Down, "To the box below, the heaviest", "flame-down"),
        line(AT, &["ArrowLeft"], Left, "To the box at the left", "flame-left"),
        line(AT, &["ArrowRight"], Right, "To the box at the right", "flame-right"),
        line(AT, &["Enter", "+"], ZoomIn, "Zoom to the selected box", "flame-in"),
        line(AT, &["Backspace", "-"], ZoomOut, "Zoom out by a box", "flame-out"),
        line(AT, &["0"], ZoomOutFully, "Show everything", "flame-all"),
        line(AT, &["f"], Turn, "Root at the top or at the bottom", "flame-turn"),
        line(AT, &["r"], Invert, "Innermost or outermost frames at the root", "flame-invert"),
        line(AT, &["h"], HideInternal, "Leave out internal frames, or not", "flame-internal"),
        line(AT, &["m"], MergeOther, "Merge frames by line, function or file", "flame-merge"),
    ]
};
