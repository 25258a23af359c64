//! Windows and scenes of the lanes: aligning windows with the focused lane, requesting one scene after another, and
//! storing the received scenes.

use crate::plot::{comparing, plots};
use crate::state::drawing::{BytesAxis, Canvas, Geometry};
use crate::state::effect::Effect;
use crate::state::lanes::ShownLane;
use crate::state::navigate::Plane;
use crate::state::outbox::Outbox;
use crate::state::part::Part;
use crate::state::shared::Shared;
use picture::timeline::{Axis, Scene, View};
use protocol::{Answer, DeviceSummary, Highlight, PlotSettings, Question};
use std::rc::Rc;

/// Gives each shown lane a window that is as large as the lane and starts at the focused lane's horizontal
/// position.
pub(crate) fn arrange_lanes(state: &mut Shared) {
    let indices = state.lane_indices();
    if state.comparing.pair.is_none() {
        state.lanes.top_device = indices.first().copied().unwrap_or(0);
    }
    let shown = state.device_index;
    state.lanes.retain(|index| index == shown || indices.contains(&index));
    let shared_axis = state.shared_axis();
    let focused = state.drawn_device().map(|device| state.fit_plane_to_plot(shared_axis.plane(device), device));
    let focused = focused.zip(state.lane_canvas(state.device_index));
    let Some((plane, (_, canvas))) = focused else { return state.lanes.retain(|index| index == shown) };
    let view = resized(plane, state.view(), canvas);
    state.focused_mut().view = Some(view);
    let left_px = |device: &DeviceSummary| view.left_px.saturating_sub(shared_axis.origin_px(device, view.x_per_px));
    let common_px = state.drawn_device().map_or(0, |device| view.left_px - left_px(device));
    for index in indices.into_iter().filter(|&index| index != shown) {
        let Some((device, (_, canvas))) = state.device_at(index).zip(state.lane_canvas(index)) else { continue };
        let left_px = left_px(device).saturating_add(common_px);
        let lane = state.lanes.get(index);
        let plane = state.plane_of(device);
        let mut resized_view = resized(plane, lane.and_then(|lane| lane.view), canvas);
        let aligned = comparing::lanes::aligned_window(state, index, view, resized_view);
        let fits = state.bytes_axis == BytesAxis::FitsWindow && state.no_fit_reason().is_none();
        if let Some(scene) = lane.and_then(|lane| lane.geometry.scene.as_ref()).filter(|_| fits) {
            resized_view = plane.bytes_fitted(resized_view, scene, state.sampled_height(device));
        }
        let following = View { axis: view.axis, x_per_px: view.x_per_px, left_px, ..resized_view };
        state.lanes.get_mut(index).view = Some(aligned.unwrap_or(following));
    }
    state.update_pointer();
}

/// Returns the display settings for the device at `index`. Search matches are known only for the focused device, so
/// other devices are drawn without them.
fn plot_settings_of(state: &Shared, index: usize) -> PlotSettings {
    let is_search = matches!(state.plot_settings.highlight, Highlight::Found(_));
    let plot_settings = if is_search && index != state.device_index {
        state.plot_settings.without_highlight()
    } else {
        state.plot_settings
    };
    PlotSettings { plot: state.plot_of(index), ..plot_settings }
}

/// Returns whether any requested scene is pending.
pub(crate) fn waits_for_scene(state: &Shared) -> bool {
    state.lanes.iter().any(|lane| lane.geometry.in_flight.is_some())
}

/// Requests the scene of the next lane that needs one. Lanes take turns, so that a lane whose window keeps moving
/// does not starve the others.
pub(crate) fn ask_next_scene(state: &mut Shared, out: &mut Outbox) -> Option<()> {
    let indices = state.lane_indices();
    let after = indices.iter().position(|&index| index == state.lanes.last_requested).map_or(0, |at| at + 1);
    let (before, behind) = indices.split_at(after);
    let index = behind.iter().chain(before).copied().find(|&index| needs_scene(state, index))?;
    state.lanes.last_requested = index;
    let lane = state.shown_lanes().find(|lane| lane.index == index)?;
    let view = state.plane_of(lane.device).with_margin(*lane.view);
    let question = Question::Scene { view, plot_settings: plot_settings_of(state, index) };
    let serial = out.ask(lane.device.device, question);
    state.lanes.get_mut(index).geometry.in_flight = Some(serial);
    Some(())
}

fn needs_scene(state: &Shared, index: usize) -> bool {
    let Some(lane) = state.shown_lanes().find(|lane| lane.index == index) else { return false };
    // A device without timestamps has no position on the time axis. A plot of unknown height cannot be drawn.
    if state.axis == Axis::Time && lane.device.time_us.is_none() || state.plot_height(lane.device).is_none() {
        return false;
    }
    let scene = lane
        .geometry
        .scene
        .as_ref()
        .filter(|_| lane.geometry.plot_settings == plot_settings_of(state, index) && !lane.geometry.is_stale);
    let plane = state.plane_of(lane.device);
    !scene.is_some_and(|scene| plane.is_covered(*lane.view, &scene.view))
}

/// Stores the scene that was requested with `serial`, and returns the effect that uploads it. `None` if no lane is
/// waiting for this scene.
fn take_scene(state: &mut Shared, serial: u32, scene: Scene) -> Option<Effect> {
    let waits = |index: &usize| state.lanes.get(*index).is_some_and(|lane| lane.geometry.in_flight == Some(serial));
    let device_place = state.lane_indices().into_iter().find(waits)?;
    let plot_settings = plot_settings_of(state, device_place);
    let scene = Rc::new(plots::without_curves(scene, plot_settings.plot));
    state.lanes.get_mut(device_place).geometry =
        Geometry { scene: Some(scene.clone()), plot_settings, ..Geometry::default() };
    state.refit_bytes_axis();
    Some(Effect::Upload { device_place, scene })
}

/// Returns effects that upload all scenes, for a new renderer.
pub(crate) fn uploads(state: &Shared) -> Vec<Effect> {
    let upload = |lane: ShownLane<'_>| {
        let scene = lane.geometry.scene.clone()?;
        Some(Effect::Upload { device_place: lane.index, scene })
    };
    state.shown_lanes().filter_map(upload).collect()
}

/// Forgets the pending requests for scenes, because different scenes are needed.
pub(crate) fn ignore_requests(state: &mut Shared) {
    state.lanes.iter_mut().for_each(|(_, lane)| lane.geometry.in_flight = None);
}

/// Requests all scenes again. The old scenes stay visible until the new ones arrive.
pub(crate) fn redraw(state: &mut Shared) {
    ignore_requests(state);
    state.lanes.iter_mut().for_each(|(_, lane)| lane.geometry.is_stale = true);
}

/// Returns the size of the focused lane, as a canvas of its own.
pub(crate) fn focused_canvas(state: &Shared) -> Option<Canvas> {
    state.lane_canvas(state.device_index).map(|(_, canvas)| canvas)
}

/// Callbacks of the scenes. The requests are sent by [`crate::shell::update()`], because they depend on the rest of the
/// state.
pub(crate) const PART: Part = Part { asks: &[], take };

fn take(state: &mut Shared, serial: u32, answer: Answer, out: &mut Outbox) -> Option<Answer> {
    let Answer::Scene(scene) = answer else { return Some(answer) };
    out.extend(take_scene(state, serial, *scene));
    None
}

/// Resizes a window to the size of its lane. If `view` is `None`, returns a window that shows the whole trace.
fn resized(plane: Plane, view: Option<View>, canvas: Canvas) -> View {
    match view {
        Some(view) if (view.width_px, view.height_px) == (canvas.width_px, canvas.height_px) => view,
        Some(view) => plane.resized(view, canvas),
        None => plane.fit(canvas),
    }
}
