//! Commands for the cursor, the range, markers and the ruler.

use crate::features::State;
use crate::features::command::Trait::NeedsWholeFile;
use crate::features::command::{CURSOR, Call, Keys, MOVE, Name, PAGE, PLOT, Row, TIMELINE, row, rows};
use crate::plot::crosshair::move_by_key;
use crate::plot::{drag, markers, navigate, ruler, slices};
use crate::scope::{cursor, range};
use crate::state::binding::KeyScope::{Page, Timeline};
use crate::state::crosshair::CrosshairStep;
use crate::state::effect::Effect;
use crate::state::range::ViewScope;
use crate::text::side::Side;
use protocol::Direction;

/// Maximum fraction of the trace that is visible after going to the peak.
const PEAK_WINDOW: f64 = 1.0 / 16.0;

rows! {
    pub(super) CURSOR_AND_RANGE:
    GO_TO_PEAK = row(Timeline, MOVE, &["p"], "Go to the peak", "headlines", |state, _| go_to_peak(state));
    CURSOR_TO_PEAK = row(Timeline, CURSOR, &["Shift+p"], "Move the cursor to the peak", "at-peak",
        |state, _| cursor::go_to_peak(state));
    CURSOR_TO_END = row(Timeline, CURSOR, &["End"], "Move the cursor to the end", "at-end",
        |state, _| cursor::go_to(state, u32::MAX));
    FOCUS_GO_TO = row(Page, CURSOR, &["@"], "Go to an event or a time", "at", |state, out| {
        (state.side, state.side_is_expanded) = (Side::Selection, true);
        out.push(Effect::FocusGoTo);
    });
    /// Starts a range at the cursor, or finishes the range that keys are extending.
    TOGGLE_RANGE = row(Timeline, CURSOR, &["q"], "Start or finish a range at the cursor", TIMELINE,
        |state, _| range::toggle_range(state)).with(&[NeedsWholeFile]);
    NEXT_RANGE_FILTER = row(Page, CURSOR, &["Shift+q"], "Switch what the views show of the range", "scope",
        |state, _| range::next_range_scope(state));
    SCOPE_CHANGE = scope(&["Shift+i"], "Show what changed from A to B, the ends of the range", "scope-change",
        |state, _| range::choose_scope(state, ViewScope::Change));
    CURSOR_TO_RANGE_PEAK = row(Page, CURSOR, &["Shift+x"], "Go to the peak of the range", "range-peak",
        |state, _| range::go_to_range_peak(state));
    NEXT_ANNOTATION = row(Timeline, CURSOR, &[")"], "Select the next annotation as the range", TIMELINE,
        |state, _| slices::step_annotation(state, Direction::Next));
    PREVIOUS_ANNOTATION = row(Timeline, CURSOR, &["("], "Select the previous annotation as the range", TIMELINE,
        |state, _| slices::step_annotation(state, Direction::Previous));
    ZOOM_TO_RANGE = row(Timeline, MOVE, &["Shift+Enter"], "Zoom to the range", TIMELINE,
        |state, _| slices::zoom_to_range(state));
}

// The page has buttons for the other scopes, and the terminal UI keys.
rows! {
    _:
    SCOPE_CURSOR = scope(&[], "Show what is live at the cursor", "",
        |state, _| range::choose_scope(state, ViewScope::Cursor));
    SCOPE_RANGE = scope(&[], "Show what happens in the range", "",
        |state, _| range::choose_scope(state, ViewScope::Range));
    SCOPE_WHOLE_TRACE = scope(&[], "Show the whole trace", "",
        |state, _| range::choose_scope(state, ViewScope::WholeTrace));
}

rows! {
    pub(super) CROSSHAIR:
    CURSOR_EARLIER = crosshair(&["Shift+ArrowLeft"], "Move the cursor back one event",
        |state, out| move_by_key(state, CrosshairStep::Earlier, out));
    CURSOR_LATER = crosshair(&["Shift+ArrowRight"], "Move the cursor forward one event",
        |state, out| move_by_key(state, CrosshairStep::Later, out));
    CURSOR_COLUMN_LEFT = crosshair(&["Ctrl+Shift+ArrowLeft"], "Move the cursor left one pixel",
        |state, out| move_by_key(state, CrosshairStep::ColumnLeft, out));
    CURSOR_COLUMN_RIGHT = crosshair(&["Ctrl+Shift+ArrowRight"], "Move the cursor right one pixel",
        |state, out| move_by_key(state, CrosshairStep::ColumnRight, out));
    CURSOR_ABOVE = crosshair(&["Shift+ArrowUp"], "Move the cursor to the allocation above",
        |state, out| move_by_key(state, CrosshairStep::Above, out));
    CURSOR_BELOW = crosshair(&["Shift+ArrowDown"], "Move the cursor to the allocation below",
        |state, out| move_by_key(state, CrosshairStep::Below, out));
    CURSOR_BEFORE = crosshair(&["<"], "Move the cursor to the previous allocation at this height",
        |state, out| move_by_key(state, CrosshairStep::Before, out));
    CURSOR_AFTER = crosshair(&[">"], "Move the cursor to the next allocation at this height",
        |state, out| move_by_key(state, CrosshairStep::After, out));
    CURSOR_TO_ALLOCATION = crosshair(&["{"], "Move the cursor to where the selection is allocated",
        |state, out| move_by_key(state, CrosshairStep::ToAllocation, out));
    CURSOR_TO_FREED = crosshair(&["}"], "Move the cursor to where the selection is freed",
        |state, out| move_by_key(state, CrosshairStep::ToFreed, out));
    SELECT_AT_CURSOR = crosshair(&["Enter"], "Select the allocation at the cursor",
        |state, out| move_by_key(state, CrosshairStep::Select, out));
    ADD_MARKER = row(Timeline, CURSOR, &["m"], "Add a marker at the cursor", TIMELINE,
        |state, _| markers::add(state, None)).with(&[NeedsWholeFile]);
    REMOVE_MARKER = row(Timeline, CURSOR, &["Delete", "Backspace"], "Remove the nearest marker", "remove-marker",
        |state, _| markers::remove_nearest(state));
    TOGGLE_RULER = row(Timeline, CURSOR, &["r"], "Measure from the cursor", "ruler",
        |state, _| ruler::toggle(state)).with(&[NeedsWholeFile]);
    ZOOM_TO_RULER = row(Timeline, MOVE, &["Shift+r"], "Zoom to the measured range", "zoom-to-ruler",
        |state, _| drag::zoom_to_ruler(state));
    FOCUS_CAPACITY = row(Timeline, PLOT, &["v"], "Set the device capacity", "capacity", |state, out| {
        (state.side, state.side_is_expanded) = (Side::File, true);
        out.push(Effect::FocusCapacity);
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
    state.tools.crosshair.follow_pointer();
    let peak = state.peak_moment();
    cursor::set_cursor(state, peak);
    if let Some(peak) = navigate::peak_x(state) {
        state.navigate(|plane, view| {
            let widest = plane.extent.width as f64 * PEAK_WINDOW / f64::from(view.width_px);
            let factor = (widest / view.x_per_px).min(1.0);
            plane.centred(plane.zoom_events(view, 0.0, factor), peak + 0.5)
        });
    }
}
