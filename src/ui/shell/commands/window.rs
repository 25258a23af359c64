//! Commands that pan, zoom and change the axes of the timeline.

use crate::features::State;
use crate::features::command::Trait::{NeedsWholeFile, WalksHistory};
use crate::features::command::{MOVE, PLOT, TIMELINE, row, rows};
use crate::plot::{axis_switch, lane_focus};
use crate::shell::window_history;
use crate::state::binding::KeyScope::Timeline;
use crate::state::drawing::BytesAxis;
use crate::state::window_history::HistoryDirection;

/// Distance that one key press pans by, as a fraction of the window.
const STEP: f64 = 1.0 / 8.0;
/// Factor that one key press zooms by.
const ZOOM: f64 = 1.5;

rows! {
    pub(super) ROWS:
    MOVE_LEFT = row(Timeline, MOVE, &["a", "ArrowLeft"], "Pan left", TIMELINE, |state, _| pan(state, -STEP));
    MOVE_RIGHT = row(Timeline, MOVE, &["d", "ArrowRight"], "Pan right", TIMELINE, |state, _| pan(state, STEP));
    MOVE_UP = row(Timeline, MOVE, &["w", "ArrowUp"], "Pan up", TIMELINE, |state, _| pan_bytes(state, STEP));
    MOVE_DOWN = row(Timeline, MOVE, &["s", "ArrowDown"], "Pan down", TIMELINE, |state, _| pan_bytes(state, -STEP));
    ZOOM_EVENTS_IN = row(Timeline, MOVE, &["."], "Zoom in horizontally", TIMELINE,
        |state, _| zoom_events(state, 1.0 / ZOOM));
    ZOOM_EVENTS_OUT = row(Timeline, MOVE, &[","], "Zoom out horizontally", TIMELINE,
        |state, _| zoom_events(state, ZOOM));
    ZOOM_BYTES_IN = row(Timeline, MOVE, &["+", "="], "Zoom in vertically", TIMELINE,
        |state, _| zoom_bytes(state, 1.0 / ZOOM));
    ZOOM_BYTES_OUT = row(Timeline, MOVE, &["-", "_"], "Zoom out vertically", TIMELINE,
        |state, _| zoom_bytes(state, ZOOM));
    FIT_BOTH = row(Timeline, MOVE, &["0"], "Fit the whole trace", "fit-both",
        |state, _| lane_focus::fit_all_lanes(state));
    /// Turns automatic scaling of the byte axis to the visible window on or off.
    TOGGLE_FIT_BYTES = row(Timeline, MOVE, &["f"], "Fit the byte axis to the window", "fit-bytes",
        |state, _| fit_bytes(state));
    TOGGLE_AXIS = row(Timeline, PLOT, &["t"], "Switch the axis between events and time", "axis",
        |state, _| axis_switch::toggle_axis(state)).with(&[NeedsWholeFile]);
}

rows! {
    pub(super) HISTORY:
    UNDO_VIEW = row(Timeline, MOVE, &["z"], "Undo the last pan or zoom", "window-back",
        |state, _| window_history::step(state, HistoryDirection::Back)).with(&[WalksHistory]);
    REDO_VIEW = row(Timeline, MOVE, &["Shift+z"], "Redo the last pan or zoom", "window-forward",
        |state, _| window_history::step(state, HistoryDirection::Forward)).with(&[WalksHistory]);
}

/// Pans to the right by a fraction of the window's width.
fn pan(state: &mut State, fraction: f64) {
    let width = state.canvas.map_or(0.0, |canvas| f64::from(canvas.width_px));
    state.navigate(|plane, view| plane.moved(view, width * fraction, 0.0));
}

/// Pans up by a fraction of the window's height. Ends the automatic fit of the byte axis.
fn pan_bytes(state: &mut State, fraction: f64) {
    state.bytes_axis = BytesAxis::Free;
    let height = state.canvas.map_or(0.0, |canvas| f64::from(canvas.height_px));
    state.navigate(|plane, view| plane.moved(view, 0.0, height * fraction));
}

fn zoom_events(state: &mut State, factor: f64) {
    let width = state.canvas.map_or(0.0, |canvas| f64::from(canvas.width_px));
    state.navigate(|plane, view| plane.zoom_events(view, width / 2.0, factor));
}

/// Zooms the byte axis. Ends its automatic fit.
fn zoom_bytes(state: &mut State, factor: f64) {
    state.bytes_axis = BytesAxis::Free;
    state.navigate(|plane, view| plane.zoom_bytes(view, 0.0, factor));
}

fn fit_bytes(state: &mut State) {
    if let Some(why) = state.no_fit_reason() {
        state.remark = Some([why, "."].concat());
        return;
    }
    state.bytes_axis = match state.bytes_axis {
        BytesAxis::Free => BytesAxis::FitsWindow,
        BytesAxis::FitsWindow => BytesAxis::Free,
    };
    state.refit_bytes_axis();
}
