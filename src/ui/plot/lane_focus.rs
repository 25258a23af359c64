//! Focus among several lanes (the timelines of devices, one below another), and pointer input on a single lane.

use crate::plot::comparing::second;
use crate::plot::reset::reset;
use crate::plot::{axis_switch, comparing, crosshair, lane_scenes, plots};
use crate::scope::cursor;
use crate::state::change::Change;
use crate::state::effect::Pointer;
use crate::state::lanes::LaneLayout;
use crate::state::shared::Shared;
use picture::timeline::{Axis, View};
use protocol::DeviceSummary;

/// Focuses the lane of the device at `index`, at the same horizontal position as the previously focused lane.
/// Returns false if only one device is shown or the device does not exist.
pub(crate) fn focus(state: &mut Shared, index: usize) -> bool {
    if !state.has_lanes() || state.view().is_none() || index >= state.device_count() {
        return false;
    }
    if index == state.device_index {
        return true;
    }
    lane_scenes::arrange_lanes(state);
    let aligned = comparing::part::aligned_cursor(state);
    let Some(previous) = state.view() else { return true };
    let shared_axis = state.shared_axis();
    let origins = [state.device_index, index].map(|index| state.device_at(index));
    let [from, to] = origins.map(|it| it.map_or(0, |device| shared_axis.origin_px(device, previous.x_per_px)));
    plots::clear_segment(state);
    state.device_index = index;
    let fitted = || Some(state.plane_of(state.drawn_device()?).fit(state.lane_canvas(index)?.1));
    let view = state.view().or_else(fitted);
    let is_compared = state.comparing.pair.is_some();
    state.focused_mut().view = view.map(|view| match is_compared {
        // The window of a compared device is aligned already.
        true => view,
        false => View {
            x_per_px: previous.x_per_px,
            left_px: previous.left_px.saturating_add(from).saturating_sub(to),
            ..view
        },
    });
    reset(state, Change::Lane);
    if let Some((moments, _)) = aligned {
        cursor::set_cursor(state, moments[usize::from(comparing::part::is_b_shown(state))]);
    }
    if state.axis == Axis::Time && state.device().is_some_and(|device| device.time_us.is_none()) {
        // The device has no timestamps, so the time axis cannot show any of its events.
        axis_switch::switch_axis(state, [f64::NEG_INFINITY, f64::INFINITY]);
    }
    true
}

/// Switches between showing one device and all devices. If the whole trace was visible, it stays visible.
pub(crate) fn toggle_lanes(state: &mut Shared) {
    if state.device_count() < 2 {
        state.remark = Some("This snapshot has one device.".to_owned());
        return;
    }
    let saw_everything = state.plane().zip(state.view()).is_some_and(|(plane, view)| plane.fit_like(view) == view);
    let is_timed = |device: &DeviceSummary| device.time_us.is_some_and(|(first, last)| first < last);
    let has_times = state.file().is_some_and(|file| file.devices.iter().all(is_timed));
    state.lanes.layout = match state.lanes.layout {
        LaneLayout::Single => LaneLayout::All,
        LaneLayout::All => LaneLayout::Single,
    };
    let is_all = state.lanes.layout == LaneLayout::All;
    // Events of different devices with the same index have nothing in common.
    let switches = match state.axis {
        Axis::Events => is_all && has_times,
        Axis::Time => !is_all && state.lanes.switched_axis,
    };
    state.lanes.switched_axis = switches && saw_everything && is_all;
    if switches && saw_everything {
        axis_switch::switch_axis(state, [f64::NEG_INFINITY, f64::INFINITY]);
    }
    // The focused lane gets its scene first.
    state.lanes.last_requested = state.device_index.wrapping_sub(1);
    state.lanes.hovered = None;
    lane_scenes::arrange_lanes(state);
    if saw_everything {
        fit_all_lanes(state);
    } else {
        state.navigate(|plane, view| plane.moved(view, 0.0, 0.0));
    }
}

/// Zooms all lanes to the whole trace.
pub(crate) fn fit_all_lanes(state: &mut Shared) {
    let focused = state.device_index;
    state.lanes.iter_mut().filter(|(index, _)| *index != focused).for_each(|(_, lane)| lane.view = None);
    state.navigate(|plane, view| plane.fit_like(view));
}

/// Sets the position of the pointer on the canvas. `None` if the pointer has left the canvas.
pub(crate) fn set_canvas_pointer(state: &mut Shared, pointer: Option<Pointer>) {
    state.lanes.pointer = pointer;
    if let Some(pointer) = pointer {
        state.lanes.hovered = state.lane_at(pointer).map(|(lane, _)| lane.index);
    }
    state.update_pointer();
}

/// Converts a position on the canvas to a position in the focused lane's window.
pub(crate) fn to_focused_lane(state: &Shared, pointer: Pointer) -> Pointer {
    let bottom = state.focused_lane().map_or(0, |lane| lane.bottom_px);
    Pointer { y: pointer.y - f64::from(bottom), ..pointer }
}

/// Focuses the lane under the pointer. Returns the pointer's position in that lane's window.
pub(crate) fn focus_at(state: &mut Shared, pointer: Pointer) -> Pointer {
    if let Some(index) = state.lane_at(pointer).map(|(lane, _)| lane.index) {
        focus(state, index);
    }
    set_canvas_pointer(state, Some(pointer));
    to_focused_lane(state, pointer)
}

/// Returns the position of the crosshair on the canvas.
pub fn crosshair_on_canvas(state: &Shared) -> Option<Pointer> {
    if state.tools.crosshair.by_keys.is_none() {
        return state.lanes.pointer;
    }
    let (at, lane) = (crosshair::px(state)?, state.focused_lane()?);
    Some(Pointer { y: at.y + f64::from(lane.bottom_px), ..at })
}

/// Pans all lanes horizontally, and the lane under the pointer vertically, by device pixels.
pub(crate) fn drag(state: &mut Shared, right_px: f64, up_px: f64) {
    let hovered = state.lanes.hovered.filter(|_| state.has_lanes()).unwrap_or(state.device_index);
    state.navigate(|plane, view| plane.moved(view, -right_px, 0.0));
    state.navigate_lane(hovered, |plane, view| plane.moved(view, 0.0, -up_px));
}

/// Shows the whole trace of another device. If the device has a lane, only focuses the lane.
pub(crate) fn show_device(state: &mut Shared, index: usize) {
    second::choose_device(state, index);
    if focus(state, index) {
        return;
    }
    state.device_index = index;
    reset(state, Change::Device);
    if state.device().is_some_and(|device| device.time_us.is_none()) {
        state.axis = Axis::Events;
    }
}
