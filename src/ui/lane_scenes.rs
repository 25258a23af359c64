//! Windows and scenes of the lanes: aligning windows with the focused lane, requesting one scene after another, and
//! storing the received scenes.

use super::drawing::{BytesAxis, Canvas, Geometry};
use super::effect::Effect;
use super::lanes::{Lane, ShownLane};
use super::navigate::Plane;
use super::outbox::Outbox;
use super::part::Part;
use super::plots;
use super::shared::Shared;
use picture::timeline::{Axis, Scene, View};
use protocol::{Answer, DeviceSummary, Highlight, PlotSettings, Question};
use std::rc::Rc;

impl Shared {
    /// Gives each shown lane a window that is as large as the lane and starts at the focused lane's horizontal
    /// position.
    pub(super) fn arrange_lanes(&mut self) {
        let indices = self.lane_indices();
        if self.comparing.pair.is_none() {
            self.lanes.top_device = indices.first().copied().unwrap_or(0);
        }
        let mut others = std::mem::take(&mut self.lanes.others);
        others.retain(|lane| indices.contains(&lane.index) && lane.index != self.device_index);
        let shared_axis = self.shared_axis();
        let focused = self.drawn_device().map(|device| self.fit_plane_to_plot(shared_axis.plane(device), device));
        let focused = focused.zip(self.lane_canvas(self.device_index));
        let Some((plane, (_, canvas))) = focused else { return };
        let view = resized(plane, self.view, canvas);
        self.view = Some(view);
        for index in indices.into_iter().filter(|&index| index != self.device_index) {
            if !others.iter().any(|lane| lane.index == index) {
                others.push(Lane { index, view: None, geometry: Geometry::default() });
            }
        }
        let left_px =
            |device: &DeviceSummary| view.left_px.saturating_sub(shared_axis.origin_px(device, view.x_per_px));
        let common_px = self.drawn_device().map_or(0, |device| view.left_px - left_px(device));
        for lane in &mut others {
            let Some((device, (_, canvas))) = self.device_at(lane.index).zip(self.lane_canvas(lane.index)) else {
                continue;
            };
            let plane = self.plane_of(device);
            let mut resized_view = resized(plane, lane.view, canvas);
            if let Some(aligned) = self.aligned_window(lane.index, view, resized_view) {
                lane.view = Some(aligned);
                continue;
            }
            let fits = self.bytes_axis == BytesAxis::FitsWindow && self.no_fit_reason().is_none();
            if let Some(scene) = lane.geometry.scene.as_ref().filter(|_| fits) {
                resized_view = plane.bytes_fitted(resized_view, scene);
            }
            let left_px = left_px(device).saturating_add(common_px);
            lane.view = Some(View { axis: view.axis, x_per_px: view.x_per_px, left_px, ..resized_view });
        }
        self.lanes.others = others;
        self.update_pointer();
    }

    /// Returns the display settings for the device at `index`. Search matches are known only for the focused device, so
    /// other devices are drawn without them.
    fn plot_settings_of(&self, index: usize) -> PlotSettings {
        let is_search = matches!(self.plot_settings.highlight, Highlight::Found(_));
        let plot_settings = if is_search && index != self.device_index {
            self.plot_settings.without_highlight()
        } else {
            self.plot_settings
        };
        PlotSettings { plot: self.plot_of(index), ..plot_settings }
    }

    /// Returns whether any requested scene is pending.
    pub(super) fn waits_for_scene(&self) -> bool {
        self.geometry.in_flight.is_some() || self.lanes.others.iter().any(|lane| lane.geometry.in_flight.is_some())
    }

    /// Requests the scene of the next lane that needs one. Lanes take turns, so that a lane whose window keeps moving
    /// does not starve the others.
    pub(super) fn ask_next_scene(&mut self, out: &mut Outbox) -> Option<()> {
        let indices = self.lane_indices();
        let after = indices.iter().position(|&index| index == self.lanes.last_requested).map_or(0, |at| at + 1);
        let (before, behind) = indices.split_at(after);
        let index = behind.iter().chain(before).copied().find(|&index| self.needs_scene(index))?;
        self.lanes.last_requested = index;
        let lane = self.shown_lanes().find(|lane| lane.index == index)?;
        let view = self.plane_of(lane.device).with_margin(*lane.view);
        let question = Question::Scene { view, plot_settings: self.plot_settings_of(index) };
        let serial = out.ask(lane.device.device, question);
        self.geometry_of(index)?.in_flight = Some(serial);
        Some(())
    }

    fn needs_scene(&self, index: usize) -> bool {
        let Some(lane) = self.shown_lanes().find(|lane| lane.index == index) else { return false };
        // A device without timestamps has no position on the time axis. A plot of unknown height cannot be drawn.
        if self.axis == Axis::Time && lane.device.time_us.is_none() || self.plot_height(lane.device).is_none() {
            return false;
        }
        let scene = lane
            .geometry
            .scene
            .as_ref()
            .filter(|_| lane.geometry.plot_settings == self.plot_settings_of(index) && !lane.geometry.is_stale);
        let plane = self.plane_of(lane.device);
        !scene.is_some_and(|scene| plane.is_covered(*lane.view, &scene.view))
    }

    pub(super) fn geometry_of(&mut self, index: usize) -> Option<&mut Geometry> {
        if index == self.device_index {
            return Some(&mut self.geometry);
        }
        self.lanes.others.iter_mut().find(|lane| lane.index == index).map(|lane| &mut lane.geometry)
    }

    /// Stores the scene that was requested with `serial`, and returns the effect that uploads it. `None` if no lane is
    /// waiting for this scene.
    fn take_scene(&mut self, serial: u32, scene: Scene) -> Option<Effect> {
        let device_place = self
            .lane_indices()
            .into_iter()
            .find(|&index| self.geometry_of(index).is_some_and(|it| it.in_flight == Some(serial)))?;
        let plot_settings = self.plot_settings_of(device_place);
        let scene = Rc::new(plots::without_curves(scene, plot_settings.plot));
        *self.geometry_of(device_place)? =
            Geometry { scene: Some(scene.clone()), plot_settings, ..Geometry::default() };
        self.refit_bytes_axis();
        Some(Effect::Upload { device_place, scene })
    }

    /// Returns effects that upload all scenes, for a new renderer.
    pub(super) fn uploads(&self) -> Vec<Effect> {
        let upload = |lane: ShownLane<'_>| {
            let scene = lane.geometry.scene.clone()?;
            Some(Effect::Upload { device_place: lane.index, scene })
        };
        self.shown_lanes().filter_map(upload).collect()
    }

    /// Discards all scenes. Used if scaling or moving them cannot approximate the new contents.
    pub(super) fn drop_scenes(&mut self) {
        self.geometry = Geometry::default();
        self.lanes.others.iter_mut().for_each(|lane| lane.geometry = Geometry::default());
    }

    /// Forgets the pending requests for scenes, because different scenes are needed.
    pub(super) fn ignore_requests(&mut self) {
        self.geometry.in_flight = None;
        self.lanes.others.iter_mut().for_each(|lane| lane.geometry.in_flight = None);
    }

    /// Requests all scenes again. The old scenes stay visible until the new ones arrive.
    pub(super) fn redraw(&mut self) {
        self.ignore_requests();
        self.geometry.is_stale = true;
        self.lanes.others.iter_mut().for_each(|lane| lane.geometry.is_stale = true);
    }

    /// Returns the size of the focused lane, as a canvas of its own.
    pub(super) fn focused_canvas(&self) -> Option<Canvas> {
        self.lane_canvas(self.device_index).map(|(_, canvas)| canvas)
    }
}

/// Callbacks of the scenes. The requests are sent by [`super::update()`], because they depend on the rest of the state.
pub(super) const PART: Part = Part { asks: &[], take };

fn take(state: &mut Shared, serial: u32, answer: Answer, out: &mut Outbox) -> Option<Answer> {
    let Answer::Scene(scene) = answer else { return Some(answer) };
    out.extend(state.take_scene(serial, *scene));
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
