//! The window and the geometry of each lane: brought in line with the focused one's, asked for in turn, taken when it comes.

use super::change::Change;
use super::effect::Effect;
use super::lanes::{Lane, ShownLane};
use super::navigate::Plane;
use super::part::Part;
use super::plots;
use super::shared::Shared;
use super::shown::{BytesAxis, Canvas, Geometry};
use engine::protocol::{Answer, DeviceSummary, Highlight, Looks, Question};
use picture::timeline::{Axis, Scene, View};
use std::rc::Rc;

impl Shared {
    /// Brings the lanes in line with what is shown: a window for each, as large as its lane, beginning where the focused one does.
    pub(super) fn arrange_lanes(&mut self) {
        let places = self.lane_places();
        if self.comparing.pair.is_none() {
            self.lanes.first = places.first().copied().unwrap_or(0);
        }
        let mut others = std::mem::take(&mut self.lanes.others);
        others.retain(|lane| places.contains(&lane.place) && lane.place != self.device_place);
        let shared = self.shared_axis();
        let focused = self.drawn_device().map(|device| self.as_high_as_plotted(shared.plane(device), device));
        let focused = focused.zip(self.lane_canvas(self.device_place));
        let Some((plane, (_, canvas))) = focused else { return };
        let view = sized(plane, self.view, canvas);
        self.view = Some(view);
        for place in places.into_iter().filter(|&place| place != self.device_place) {
            if !others.iter().any(|lane| lane.place == place) {
                others.push(Lane { place, view: None, geometry: Geometry::default() });
            }
        }
        let left_px = |device: &DeviceSummary| view.left_px.saturating_sub(shared.origin_px(device, view.x_per_px));
        let common_px = self.drawn_device().map_or(0, |device| view.left_px - left_px(device));
        for lane in &mut others {
            let Some((device, (_, canvas))) = self.device_at(lane.place).zip(self.lane_canvas(lane.place)) else {
                continue;
            };
            let plane = self.plane_of(device);
            let mut own = sized(plane, lane.view, canvas);
            if let Some(aligned) = self.aligned_window(lane.place, view, own) {
                lane.view = Some(aligned);
                continue;
            }
            let fits = self.bytes_axis == BytesAxis::FitsWindow && self.why_no_fit().is_none();
            if let Some(scene) = lane.geometry.scene.as_ref().filter(|_| fits) {
                own = plane.bytes_fitted(own, scene);
            }
            let left_px = left_px(device).saturating_add(common_px);
            lane.view = Some(View { axis: view.axis, x_per_px: view.x_per_px, left_px, ..own });
        }
        self.lanes.others = others;
        self.point_in_focus();
    }

    /// How a device is to be drawn. A search is of the focused one: on the others, nothing stands out.
    fn looks_of(&self, place: usize) -> Looks {
        let is_search = matches!(self.looks.highlight, Highlight::Found(_));
        let looks = if is_search && place != self.device_place { self.looks.plain() } else { self.looks };
        Looks { plot: self.plot_of(place), ..looks }
    }

    /// Whether geometry is on its way.
    pub(super) fn waits_for_scene(&self) -> bool {
        self.geometry.in_flight.is_some() || self.lanes.others.iter().any(|lane| lane.geometry.in_flight.is_some())
    }

    /// Asks for the geometry of the next lane, in turn, whose window has outgrown what it has: so no lane waits for ever while
    /// another one's window moves on and on.
    pub(super) fn next_scene(&mut self) -> Option<Effect> {
        let places = self.lane_places();
        let after = places.iter().position(|&place| place == self.lanes.turn).map_or(0, |at| at + 1);
        let (before, behind) = places.split_at(after);
        let place = behind.iter().chain(before).copied().find(|&place| self.needs_scene(place))?;
        self.lanes.turn = place;
        let serial = self.next_serial();
        let lane = self.shown_lanes().find(|lane| lane.place == place)?;
        let view = self.plane_of(lane.device).with_margin(*lane.view);
        let request = Effect::ask(serial, lane.device.device, Question::Scene { view, looks: self.looks_of(place) });
        self.geometry_of(place)?.in_flight = Some(serial);
        Some(request)
    }

    fn needs_scene(&self, place: usize) -> bool {
        let Some(lane) = self.shown_lanes().find(|lane| lane.place == place) else { return false };
        // A device without times has no place on the time axis; without its height, none at all.
        if self.axis == Axis::Time && lane.device.time_us.is_none() || self.plot_height(lane.device).is_none() {
            return false;
        }
        let scene = lane
            .geometry
            .scene
            .as_ref()
            .filter(|_| lane.geometry.looks == self.looks_of(place) && !lane.geometry.is_stale);
        let plane = self.plane_of(lane.device);
        !scene.is_some_and(|scene| plane.is_served(*lane.view, &scene.view))
    }

    pub(super) fn geometry_of(&mut self, place: usize) -> Option<&mut Geometry> {
        if place == self.device_place {
            return Some(&mut self.geometry);
        }
        self.lanes.others.iter_mut().find(|lane| lane.place == place).map(|lane| &mut lane.geometry)
    }

    /// Takes the answer to request `serial`: what to upload, unless nobody waits for it any more.
    fn take_scene(&mut self, serial: u32, scene: Scene) -> Option<Effect> {
        let device_place = self
            .lane_places()
            .into_iter()
            .find(|&place| self.geometry_of(place).is_some_and(|it| it.in_flight == Some(serial)))?;
        let looks = self.looks_of(device_place);
        let scene = Rc::new(plots::bare(scene, looks.plot));
        *self.geometry_of(device_place)? = Geometry { scene: Some(scene.clone()), looks, ..Geometry::default() };
        self.fit_bytes_if_wanted();
        Some(Effect::Upload { device_place, scene })
    }

    /// Everything a new renderer needs.
    pub(super) fn uploads(&self) -> Vec<Effect> {
        let upload = |lane: ShownLane<'_>| {
            let scene = lane.geometry.scene.clone()?;
            Some(Effect::Upload { device_place: lane.place, scene })
        };
        self.shown_lanes().filter_map(upload).collect()
    }

    /// Forgets all geometry: it can't be moved or scaled to what is shown next.
    pub(super) fn drop_scenes(&mut self) {
        self.geometry = Geometry::default();
        self.lanes.others.iter_mut().for_each(|lane| lane.geometry = Geometry::default());
    }

    /// Waits for no geometry any more: other is needed.
    pub(super) fn forget_requests(&mut self) {
        self.geometry.in_flight = None;
        self.lanes.others.iter_mut().for_each(|lane| lane.geometry.in_flight = None);
    }

    /// Asks for all geometry anew; until it comes, what there is stays.
    pub(super) fn redraw(&mut self) {
        self.forget_requests();
        self.geometry.is_stale = true;
        self.lanes.others.iter_mut().for_each(|lane| lane.geometry.is_stale = true);
    }

    /// The focused lane as a canvas of its own.
    pub(super) fn focused_canvas(&self) -> Option<Canvas> {
        self.lane_canvas(self.device_place).map(|(_, canvas)| canvas)
    }
}

/// How it takes part. Scenes are asked for by [`super::update()`] itself: they depend on everything.
pub(super) const PART: Part = Part { reset, asks: &[], take };

/// Of lanes, the others are shown on.
fn reset(state: &mut Shared, change: Change) {
    if change == Change::Device {
        state.view = None;
        state.drop_scenes();
        state.lanes.forget();
    }
}

fn take(state: &mut Shared, serial: u32, answer: Answer, effects: &mut Vec<Effect>) -> Option<Answer> {
    let Answer::Scene(scene) = answer else { return Some(answer) };
    effects.extend(state.take_scene(serial, *scene));
    None
}

/// The window at the size of its lane; everything where there was none.
fn sized(plane: Plane, view: Option<View>, canvas: Canvas) -> View {
    match view {
        Some(view) if (view.width_px, view.height_px) == (canvas.width_px, canvas.height_px) => view,
        Some(view) => plane.resized(view, canvas),
        None => plane.fit(canvas),
    }
}
