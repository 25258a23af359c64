//! Keyboard shortcuts of the flame graph.

use super::FlameStep;
use crate::binding::{Binding, KeyScope, bind};
use crate::tab::Tab;

pub(super) const KEYS: &[Binding<FlameStep>] = {
    use FlameStep::*;
    const AT: KeyScope = KeyScope::Tab(Tab::Flame);
    &[
        bind(AT, &["ArrowUp"], Up, "Go to the frame above", "flame-up"),
        bind(AT, &["ArrowDown"], Down, "Go to the largest frame below", "flame-down"),
        bind(AT, &["ArrowLeft"], Left, "Go to the frame on the left", "flame-left"),
        bind(AT, &["ArrowRight"], Right, "Go to the frame on the right", "flame-right"),
        bind(AT, &["Enter", "+"], ZoomIn, "Zoom to the selected frame", "flame-in"),
        bind(AT, &["Backspace", "-"], ZoomOut, "Zoom out one frame", "flame-out"),
        bind(AT, &["0"], ZoomOutFully, "Fit the flame graph", "flame-all"),
        bind(AT, &["f"], FlipDirection, "Flip the root to the top or the bottom", "flame-turn"),
        bind(AT, &["r"], Invert, "Invert the flame graph", "flame-invert"),
        bind(AT, &["h"], HideInternal, "Hide or show internal frames", "flame-internal"),
        bind(AT, &["m"], NextMerge, "Merge frames by line, function or file", "flame-merge"),
    ]
};
