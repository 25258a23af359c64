//! Commands of the flame graph.

use crate::features::command::{rows, tab_row};
use crate::features::flame::{FlameGraph, GrowthDirection, update_scroll};
use crate::state::outbox::{Intent, Outbox};
use crate::state::shared::Shared;
use crate::text::tab::Tab::Flame;

rows! {
    pub(crate) ROWS:
    UP = tab_row(Flame, &["ArrowUp"], "Go to the frame above", "flame-up",
        |state, out| step(&mut state.flame, &state.shared, Step::Up, out));
    DOWN = tab_row(Flame, &["ArrowDown"], "Go to the largest frame below", "flame-down",
        |state, out| step(&mut state.flame, &state.shared, Step::Down, out));
    LEFT = tab_row(Flame, &["ArrowLeft"], "Go to the frame on the left", "flame-left",
        |state, out| step(&mut state.flame, &state.shared, Step::Left, out));
    RIGHT = tab_row(Flame, &["ArrowRight"], "Go to the frame on the right", "flame-right",
        |state, out| step(&mut state.flame, &state.shared, Step::Right, out));
    ZOOM_IN = tab_row(Flame, &["Enter", "+"], "Zoom to the selected frame", "flame-in",
        |state, out| step(&mut state.flame, &state.shared, Step::ZoomIn, out));
    ZOOM_OUT = tab_row(Flame, &["Backspace", "-"], "Zoom out one frame", "flame-out",
        |state, out| step(&mut state.flame, &state.shared, Step::ZoomOut, out));
    ZOOM_OUT_FULLY = tab_row(Flame, &["0"], "Fit the flame graph", "flame-all",
        |state, out| step(&mut state.flame, &state.shared, Step::ZoomOutFully, out));
    FLIP_DIRECTION = tab_row(Flame, &["f"], "Flip the root to the top or the bottom", "flame-turn",
        |state, _| flip_direction(&mut state.flame));
    INVERT = tab_row(Flame, &["r"], "Invert the flame graph", "flame-invert", |state, out| {
        out.intend(Intent::Arrange(state.views.arrangement.inverted()));
    });
    HIDE_INTERNAL = tab_row(Flame, &["h"], "Hide or show internal frames", "flame-internal", |state, out| {
        out.intend(Intent::Arrange(state.views.arrangement.with_internal_toggled()));
    });
    NEXT_MERGE = tab_row(Flame, &["m"], "Merge frames by line, function or file", "flame-merge", |state, out| {
        out.intend(Intent::Arrange(state.views.arrangement.with_next_merge()));
    });
}

fn flip_direction(flame: &mut FlameGraph) {
    flame.growth = if flame.growth == GrowthDirection::Down { GrowthDirection::Up } else { GrowthDirection::Down };
    update_scroll(flame);
}

/// Movement of the selection or of the zoom by keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Goes to the box above the selected one on the screen.
    Up,
    /// Goes to the box below the selected one on the screen, or to the largest of several.
    Down,
    Left,
    Right,
    ZoomIn,
    /// Zooms to the parent of the zoomed box.
    ZoomOut,
    ZoomOutFully,
}

fn step(flame: &mut FlameGraph, shared: &Shared, step: Step, out: &mut Outbox) {
    let known = flame.page().cloned().zip(flame.selected_box(shared)).filter(|_| !flame.has_stale_boxes(shared));
    let Some((page, index)) = known else { return };
    let Some(selected) = page.boxes.get(index) else { return };
    let grows_down = flame.growth == GrowthDirection::Down;
    let single = |place: &usize| page.boxes.get(*place).is_some_and(|it| it.node_count == 1);
    let row = |place: &usize| page.boxes.get(*place).is_some_and(|it| it.row == selected.row);
    let to = match step {
        // Without a selection, the first key press selects the current box.
        _ if shared.views.node.is_none() && !matches!(step, Step::ZoomOut | Step::ZoomOutFully) => Some(index),
        Step::Up | Step::Down if (step == Step::Up) == grows_down => Some(selected.parent as usize),
        Step::Up | Step::Down => {
            // Boxes are sorted by size, largest first. Rows above the zoomed box have only one.
            let below = |place: &usize| page.boxes.get(*place).is_some_and(|it| it.parent as usize == index);
            (index + 1..page.boxes.len()).find(below).filter(single)
        }
        Step::Left => index.checked_sub(1).filter(row).filter(single),
        // Skips merged boxes to the first child of the next parent.
        Step::Right => (index + 1..page.boxes.len()).take_while(row).find(single),
        Step::ZoomIn => return flame.zoom_to(shared, selected.node),
        Step::ZoomOut => {
            let zoomed = page.boxes.get(page.zoom as usize);
            let outer = zoomed.and_then(|zoomed| page.boxes.get(zoomed.parent as usize));
            return flame.zoom_to(shared, outer.map_or(0, |outer| outer.node));
        }
        Step::ZoomOutFully => return flame.zoom_to(shared, 0),
    };
    if let Some(to) = to {
        flame.select_box(to, out);
    }
}
