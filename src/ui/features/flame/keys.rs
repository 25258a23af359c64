//! Keyboard shortcuts of the flame graph.

use super::FlameStep;
use crate::binding::{Binding, Scope, line};
use crate::tab::Tab;

pub(super) const KEYS: &[Binding<FlameStep>] = {
    use FlameStep::*;
    const AT: Scope = Scope::Tab(Tab::Flame);
    &[
        line(AT, &["ArrowUp"], Up, "Go to the frame above", "flame-up"),
        line(AT, &["ArrowDown"], Down, "Go to the largest frame below", "flame-down"),
        line(AT, &["ArrowLeft"], Left, "Go to the frame on the left", "flame-left"),
        line(AT, &["ArrowRight"], Right, "Go to the frame on the right", "flame-right"),
        line(AT, &["Enter", "+"], ZoomIn, "Zoom to the selected frame", "flame-in"),
        line(AT, &["Backspace", "-"], ZoomOut, "Zoom out one frame", "flame-out"),
        line(AT, &["0"], ZoomOutFully, "Fit the flame graph", "flame-all"),
        line(AT, &["f"], Turn, "Flip the root to the top or the bottom", "flame-turn"),
        line(AT, &["r"], Invert, "Invert the flame graph", "flame-invert"),
        line(AT, &["h"], HideInternal, "Hide or show internal frames", "flame-internal"),
        line(AT, &["m"], MergeOther, "Merge frames by line, function or file", "flame-merge"),
    ]
};
