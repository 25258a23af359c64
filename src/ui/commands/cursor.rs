//! Commands for the cursor, the range, markers and the ruler.

use crate::binding::KeyScope::{Page, Timeline};
use crate::command::Trait::NeedsWholeFile;
use crate::command::{CURSOR, Call, Keys, MOVE, Name, PAGE, PLOT, Row, TIMELINE, row, rows};
use crate::crosshair::{CrosshairStep, move_by_key};
use crate::effect::Effect;
use crate::features::State;
use crate::range::ViewScope;
use crate::side::Side;
use protocol::Direction;

/// Maximum fraction of the trace that is visible after going to the peak.
const PEAK_WINDOW: f64 = 1.0 / 16.0;

rows! {
    pub(super) CURSOR_AND_RANGE:
    GO_TO_PEAK = row(Timeline, MOVE, &["p"], "Go to the peak", "headlines", |state, _, _| go_to_peak(state));
    CURSOR_TO_PEAK = row(Timeline, CURSOR, &["Shift+p"], "Move the cursor to the peak", "at-peak",
        |state, _, _| state.shared.go_to(state.shared.peak_moment()));
    CURSOR_TO_END = row(Timeline, CURSOR, &["End"], "Move the cursor to the end", "at-end",
        |state, _, _| state.shared.go_to(state.shared.end_moment()));
    FOCUS_GO_TO = row(Page, CURSOR, &["@"], "Go to an event or a time", "at", |state, _, effects| {
        (state.side, state.side_is_expanded) = (Side::Selection, true);
        effects.push(Effect::FocusGoTo);
    });
    /// Starts a range at the cursor, or finishes the range that keys are extending.
    TOGGLE_RANGE = row(Timeline, CURSOR, &["q"], "Start or finish a range at the cursor", TIMELINE,
        |state, _, _| state.toggle_range()).with(&[NeedsWholeFile]);
    NEXT_RANGE_FILTER = row(Page, CURSOR, &["Shift+q"], "Switch what the views show of the range", "scope",
        |state, _, _| state.next_range_scope());
    SCOPE_CHANGE = scope(&["Shift+i"], "Show what changed from A to B, the ends of the range", "scope-change",
        |state, _, _| state.choose_scope(ViewScope::Change));
    CURSOR_TO_RANGE_PEAK = row(Page, CURSOR, &["Shift+x"], "Go to the peak of the range", "range-peak",
        |state, _, _| state.go_to_range_peak());
    NEXT_ANNOTATION = row(Timeline, CURSOR, &[")"], "Select the next annotation as the range", TIMELINE,
        |state, _, _| state.step_annotation(Direction::Next));
    PREVIOUS_ANNOTATION = row(Timeline, CURSOR, &["("], "Select the previous annotation as the range", TIMELINE,
        |state, _, _| state.step_annotation(Direction::Previous));
    ZOOM_TO_RANGE = row(Timeline, MOVE, &["Shift+Enter"], "Zoom to the range", TIMELINE,
        |state, _, _| state.zoom_to_range());
}

// The page has buttons for the other scopes, and the terminal UI keys.
rows! {
    _:
    SCOPE_CURSOR = scope(&[], "Show what is live at the cursor", "",
        |state, _, _| state.choose_scope(ViewScope::Cursor));
    SCOPE_RANGE = scope(&[], "Show what happens in the range", "", |state, _, _| state.choose_scope(ViewScope::Range));
    SCOPE_WHOLE_TRACE = scope(&[], "Show the whole trace", "", |state, _, _| state.choose_scope(ViewScope::WholeTrace));
}

rows! {
    pub(super) CROSSHAIR:
    CURSOR_EARLIER = crosshair(&["Shift+ArrowLeft"], "Move the cursor back one event",
        |state, _, effects| move_by_key(state, CrosshairStep::Earlier, effects));
    CURSOR_LATER = crosshair(&["Shift+ArrowRight"], "Move the cursor forward one event",
        |state, _, effects| move_by_key(state, CrosshairStep::Later, effects));
    CURSOR_COLUMN_LEFT = crosshair(&["Ctrl+Shift+ArrowLeft"], "Move the cursor left one pixel",
        |state, _, effects| move_by_key(state, CrosshairStep::ColumnLeft, effects));
    CURSOR_COLUMN_RIGHT = crosshair(&["Ctrl+Shift+ArrowRight"], "Move the cursor right one pixel",
        |state, _, effects| move_by_key(state, CrosshairStep::ColumnRight, effects));
    CURSOR_ABOVE = crosshair(&["Shift+ArrowUp"], "Move the cursor to the allocation above",
        |state, _, effects| move_by_key(state, CrosshairStep::Above, effects));
    CURSOR_BELOW = crosshair(&["Shift+ArrowDown"], "Move the cursor to the allocation below",
        |state, _, effects| move_by_key(state, CrosshairStep::Below, effects));
    CURSOR_BEFORE = crosshair(&["<"], "Move the cursor to the previous allocation at this height",
        |state, _, effects| move_by_key(state, CrosshairStep::Before, effects));
    CURSOR_AFTER = crosshair(&[">"], "Move the cursor to the next allocation at this height",
        |state, _, effects| move_by_key(state, CrosshairStep::After, effects));
    CURSOR_TO_ALLOCATION = crosshair(&["{"], "Move the cursor to where the selection is allocated",
        |state, _, effects| move_by_key(state, CrosshairStep::ToAllocation, effects));
    CURSOR_TO_FREED = crosshair(&["}"], "Move the cursor to where the selection is freed",
        |state, _, effects| move_by_key(state, CrosshairStep::ToFreed, effects));
    SELECT_AT_CURSOR = crosshair(&["Enter"], "Select the allocation at the cursor",
        |state, _, effects| move_by_key(state, CrosshairStep::Select, effects));
    ADD_MARKER = row(Timeline, CURSOR, &["m"], "Add a marker at the cursor", TIMELINE,
        |state, _, _| state.add_marker(None)).with(&[NeedsWholeFile]);
    REMOVE_MARKER = row(Timeline, CURSOR, &["Delete", "Backspace"], "Remove the nearest marker", "remove-marker",
        |state, _, _| state.remove_nearest_marker());
    TOGGLE_RULER = row(Timeline, CURSOR, &["r"], "Measure from the cursor", "ruler",
        |state, _, _| state.toggle_ruler()).with(&[NeedsWholeFile]);
    ZOOM_TO_RULER = row(Timeline, MOVE, &["Shift+r"], "Zoom to the measured range", "zoom-to-ruler",
        |state, _, _| state.zoom_to_ruler());
    FOCUS_CAPACITY = row(Timeline, PLOT, &["v"], "Set the GPU capacity", "capacity", |state, _, effects| {
        (state.side, state.side_is_expanded) = (Side::File, true);
        effects.push(Effect::FocusCapacity);
    });
}

/// Creates the row of a command that chooses the scope of the views.
const fn scope(keys: Keys, title: Name, control: Name, call: Call) -> Row {
    row(Page, PAGE, keys, title, control, call)
}

/// Creates the row of a command that moves the cursor by keys.
const fn crosshair(keys: Keys, title: Name, call: Call) -> Row {
    row(Timeline, CURSOR, keys, title, TIMELINE, call).with(&[NeedsWholeFile])
}

fn go_to_peak(state: &mut State) {
    state.follow_pointer();
    state.shared.set_cursor(state.shared.peak_moment());
    if let Some(peak) = state.peak_x() {
        state.navigate(|plane, view| {
            let widest = plane.extent.width as f64 * PEAK_WINDOW / f64::from(view.width_px);
            let factor = (widest / view.x_per_px).min(1.0);
            plane.centred(plane.zoom_events(view, 0.0, factor), peak + 0.5)
        });
    }
}
