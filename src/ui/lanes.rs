//! Several devices above each other on one horizontal axis: which are shown, where each lane lies, whose geometry comes next.
//!
//! ```text
//!   ┌──────────────────────┐  device 0
//!   ├──────────────────────┤  device 1: focused. Its window and geometry are State::view and State::geometry, as if it were alone
//!   ├──────────────────────┤  device 2
//!   └──────────────────────┘
//! ```
//! Summary, details, legend and marks are of the focused device. The others have only a window and a geometry, kept here;
//! horizontally, their windows follow the focused one's. One device by itself is one lane as high as the canvas.

use super::action::{Effect, Pointer};
use super::navigate::Plane;
use super::shared_axis::SharedAxis;
use super::state::{BytesAxis, Canvas, Geometry, State};
use super::surroundings::Surroundings;
use crate::engine::protocol::{DeviceSummary, Request};
use crate::timeline::{Axis, Scene, View};
use std::ops::Range;
use std::rc::Rc;

/// A lane is at least so many CSS pixels high: fewer show nothing. Devices beyond are reached by moving the focus.
const LOWEST: f64 = 48.0;

/// Whether devices are shown one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Arrangement {
    /// One at a time.
    #[default]
    Alone,
    /// All above each other.
    Together,
}

/// What there is of the lanes besides the focused one.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// Whether there is more than one, where the file has more devices.
    pub arrangement: Arrangement,
    /// The device of the uppermost lane.
    first: usize,
    others: Vec<Lane>,
    /// The device whose geometry was asked for last.
    turn: usize,
    /// Where the pointer is over the canvas, whatever is there. [`State::pointer`] is where it is in the focused lane's window.
    pub pointer: Option<Pointer>,
    /// The device that the pointer was over last: what a drag moves up and down.
    pointed: Option<usize>,
}

/// A lane without the focus.
#[derive(Clone, Debug)]
struct Lane {
    place: usize,
    view: Option<View>,
    geometry: Geometry,
}

/// A lane as it is shown.
#[derive(Clone, Copy, Debug)]
pub struct ShownLane<'a> {
    /// The device, by its place in the summary's list.
    pub place: usize,
    /// The device.
    pub device: &'a DeviceSummary,
    /// Its window, as high as the lane.
    pub view: &'a View,
    /// Its geometry.
    pub geometry: &'a Geometry,
    /// The canvas' row, counted upwards, at which the lane begins.
    pub bottom_px: u32,
}

impl Lanes {
    /// Forgets everything about a file.
    pub(super) fn forget(&mut self) {
        *self = Lanes { arrangement: self.arrangement, pointer: self.pointer, ..Lanes::default() };
    }
}

impl State {
    /// The device at a place in the summary's list.
    pub fn device_at(&self, place: usize) -> Option<&DeviceSummary> {
        self.file()?.devices.get(place)
    }

    fn device_count(&self) -> usize {
        self.file().map_or(0, |file| file.devices.len())
    }

    /// Whether several devices are shown.
    pub fn has_lanes(&self) -> bool {
        self.lanes.arrangement == Arrangement::Together && self.device_count() > 1
    }

    /// The devices that have a lane, from the top, by their places.
    pub fn lane_places(&self) -> Range<usize> {
        let (Some(canvas), true) = (self.canvas, self.has_lanes()) else {
            return self.device_place..self.device_place + 1;
        };
        let fit = (f64::from(canvas.height_px) / canvas.scale / LOWEST).floor() as usize;
        let count = fit.clamp(1, self.device_count());
        let lowest_first = (self.device_place + 1).saturating_sub(count);
        let first = self.lanes.first.clamp(lowest_first, self.device_place).min(self.device_count() - count);
        first..first + count
    }

    /// The lane of a device on the canvas: the row at which it begins, counted upwards, and what it would be as a canvas of its own.
    fn lane_canvas(&self, place: usize) -> Option<(u32, Canvas)> {
        let (canvas, places) = (self.canvas?, self.lane_places());
        let from_top = place.checked_sub(places.start).filter(|_| places.contains(&place))?;
        let edge = |lane: usize| (u64::from(canvas.height_px) * lane as u64 / places.len() as u64) as u32;
        // A line is between two lanes.
        let line = if from_top > 0 { canvas.scale.round().max(1.0) as u32 } else { 0 };
        let (top, bottom) = (edge(from_top).saturating_add(line), edge(from_top + 1));
        let lane = Canvas { height_px: bottom.saturating_sub(top).max(1), ..canvas };
        Some((canvas.height_px - bottom, lane))
    }

    /// The lanes that have a window, from the top.
    pub fn shown_lanes(&self) -> impl Iterator<Item = ShownLane<'_>> {
        self.lane_places().filter_map(|place| {
            let (view, geometry) = if place == self.device_place {
                (self.view.as_ref()?, &self.geometry)
            } else {
                let lane = self.lanes.others.iter().find(|lane| lane.place == place)?;
                (lane.view.as_ref()?, &lane.geometry)
            };
            let (bottom_px, _) = self.lane_canvas(place)?;
            Some(ShownLane { place, device: self.device_at(place)?, view, geometry, bottom_px })
        })
    }

    /// The focused lane: that of [`State::view`].
    pub fn focused_lane(&self) -> Option<ShownLane<'_>> {
        self.shown_lanes().find(|lane| lane.place == self.device_place)
    }

    /// The lane at a place of the canvas, and that place in the pixels of the lane's window.
    pub fn lane_at(&self, pointer: Pointer) -> Option<(ShownLane<'_>, Pointer)> {
        let lane = self.shown_lanes().find(|lane| f64::from(lane.bottom_px) <= pointer.y.max(0.0))?;
        Some((lane, Pointer { y: pointer.y - f64::from(lane.bottom_px), ..pointer }))
    }

    /// The axis of the devices that are shown: of all of them, or of the one.
    pub fn shared_axis(&self) -> SharedAxis {
        let devices = self.file().map_or(&[][..], |file| &file.devices);
        let alone = self.device_place..self.device_place.saturating_add(1);
        let devices = if self.has_lanes() { Some(devices) } else { devices.get(alone) };
        SharedAxis::of(devices.unwrap_or_default().iter(), self.axis)
    }

    /// Brings the lanes in line with what is shown: a window for each, as large as its lane, beginning where the focused one does.
    pub(super) fn arrange_lanes(&mut self) {
        let places = self.lane_places();
        self.lanes.first = places.start;
        let mut others = std::mem::take(&mut self.lanes.others);
        others.retain(|lane| places.contains(&lane.place) && lane.place != self.device_place);
        let shared = self.shared_axis();
        let focused =
            self.device().map(|device| self.raised(shared.plane(device))).zip(self.lane_canvas(self.device_place));
        let Some((plane, (_, canvas))) = focused else { return };
        let view = sized(plane, self.view, canvas);
        self.view = Some(view);
        for place in places.filter(|&place| place != self.device_place) {
            if !others.iter().any(|lane| lane.place == place) {
                others.push(Lane { place, view: None, geometry: Geometry::default() });
            }
        }
        let left_px = |device: &DeviceSummary| view.left_px.saturating_sub(shared.origin_px(device, view.x_per_px));
        let common_px = self.device().map_or(0, |device| view.left_px - left_px(device));
        for lane in &mut others {
            let Some((device, (_, canvas))) = self.device_at(lane.place).zip(self.lane_canvas(lane.place)) else {
                continue;
            };
            let plane = self.raised(shared.plane(device));
            let mut own = sized(plane, lane.view, canvas);
            if let (BytesAxis::FitsWindow, Some(scene)) = (self.bytes_axis, &lane.geometry.scene) {
                own = plane.bytes_fitted(own, scene);
            }
            let left_px = left_px(device).saturating_add(common_px);
            lane.view = Some(View { axis: view.axis, x_per_px: view.x_per_px, left_px, ..own });
        }
        self.lanes.others = others;
        self.point_in_focus();
    }

    /// Whether geometry is on its way.
    pub(super) fn waits_for_scene(&self) -> bool {
        self.geometry.in_flight.is_some() || self.lanes.others.iter().any(|lane| lane.geometry.in_flight.is_some())
    }

    /// Asks for the geometry of the next lane, in turn, whose window has outgrown what it has: so no lane waits for ever while
    /// another one's window moves on and on.
    pub(super) fn next_scene(&mut self) -> Option<Request> {
        let places = self.lane_places();
        let from = self.lanes.turn.saturating_add(1).clamp(places.start, places.end);
        let place = (from..places.end).chain(places.start..from).find(|&place| self.needs_scene(place))?;
        self.lanes.turn = place;
        let serial = self.next_serial();
        let lane = self.shown_lanes().find(|lane| lane.place == place)?;
        let view = self.plane_of(lane.device).with_margin(*lane.view);
        let request = Request::Scene { serial, device: lane.device.device, view, looks: self.looks };
        self.geometry_of(place)?.in_flight = Some(serial);
        Some(request)
    }

    fn needs_scene(&self, place: usize) -> bool {
        let Some(lane) = self.shown_lanes().find(|lane| lane.place == place) else { return false };
        // A device without times has no place on the time axis.
        if self.axis == Axis::Time && lane.device.time_us.is_none() {
            return false;
        }
        let scene = lane.geometry.scene.as_ref().filter(|_| lane.geometry.looks == self.looks);
        let plane = self.plane_of(lane.device);
        !scene.is_some_and(|scene| plane.is_served(*lane.view, &scene.view))
    }

    fn geometry_of(&mut self, place: usize) -> Option<&mut Geometry> {
        if place == self.device_place {
            return Some(&mut self.geometry);
        }
        self.lanes.others.iter_mut().find(|lane| lane.place == place).map(|lane| &mut lane.geometry)
    }

    /// Takes the answer to request `serial`: what to upload, unless nobody waits for it any more.
    pub(super) fn take_scene(&mut self, serial: u32, scene: Scene) -> Option<Effect> {
        let looks = self.looks;
        let device_place =
            self.lane_places().find(|&place| self.geometry_of(place).is_some_and(|it| it.in_flight == Some(serial)))?;
        let scene = Rc::new(scene);
        *self.geometry_of(device_place)? = Geometry { scene: Some(scene.clone()), in_flight: None, looks };
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

    /// Gives the lane of another device the focus; its window begins where the one before began. `false` where there are no lanes.
    pub(super) fn focus(&mut self, place: usize) -> bool {
        if !self.has_lanes() || self.view.is_none() || place >= self.device_count() {
            return false;
        }
        if place == self.device_place {
            return true;
        }
        self.arrange_lanes();
        let before = (self.device_place, self.view.take(), std::mem::take(&mut self.geometry));
        let shared = self.shared_axis();
        let origins = [before.0, place].map(|place| self.device_at(place).zip(before.1));
        let [from, to] = origins.map(|it| it.map_or(0, |(device, view)| shared.origin_px(device, view.x_per_px)));
        let at = self.lanes.others.iter().position(|lane| lane.place == place);
        let lane = at.map(|at| self.lanes.others.swap_remove(at));
        let (view, geometry) = lane.map_or_else(Default::default, |lane| (lane.view, lane.geometry));
        self.lanes.others.push(Lane { place: before.0, view: before.1, geometry: before.2 });
        self.device_place = place;
        let fitted = || Some(self.plane_of(self.device()?).fit(self.lane_canvas(place)?.1));
        let view = view.or_else(fitted).zip(before.1);
        self.view = view.map(|(view, before)| View {
            x_per_px: before.x_per_px,
            left_px: before.left_px.saturating_add(from).saturating_sub(to),
            ..view
        });
        self.geometry = geometry;
        // Colours mean the same on all devices.
        self.around = Surroundings { faded: std::mem::take(&mut self.around.faded), ..Surroundings::default() };
        self.tools.leave_device();
        (self.hover, self.question) = (None, None);
        (self.selection, self.selecting) = (None, None);
        if self.axis == Axis::Time && self.device().is_some_and(|device| device.time_us.is_none()) {
            self.toggle_axis();
        }
        true
    }

    /// One device, or all of them. Who saw everything goes on seeing everything.
    pub(super) fn toggle_lanes(&mut self) {
        if self.device_count() < 2 {
            self.remark = Some("This snapshot has no second device.".to_owned());
            return;
        }
        let saw_everything = self.plane().zip(self.view).is_some_and(|(plane, view)| plane.whole(view) == view);
        self.lanes.arrangement = match self.lanes.arrangement {
            Arrangement::Alone => Arrangement::Together,
            Arrangement::Together => Arrangement::Alone,
        };
        // The focused one is asked for first.
        self.lanes.turn = self.device_place.wrapping_sub(1);
        self.lanes.pointed = None;
        self.arrange_lanes();
        if saw_everything {
            self.show_everything();
        } else {
            self.navigate(|plane, view| plane.moved(view, 0.0, 0.0));
        }
    }

    /// Everything, in all lanes.
    pub(super) fn show_everything(&mut self) {
        self.lanes.others.iter_mut().for_each(|lane| lane.view = None);
        self.navigate(|plane, view| plane.whole(view));
    }

    /// Replaces the window of a lane by what `change` makes of it; horizontally it goes on following the focused one.
    pub(super) fn navigate_lane(&mut self, place: usize, change: impl FnOnce(Plane, View) -> View) {
        if place == self.device_place {
            return self.navigate(change);
        }
        let plane = self.device_at(place).map(|device| self.plane_of(device));
        let lane = self.lanes.others.iter_mut().find(|lane| lane.place == place);
        if let (Some(plane), Some(lane)) = (plane, lane) {
            lane.view = lane.view.map(|view| change(plane, view));
        }
    }

    /// The pointer is over the canvas, or left it.
    pub(super) fn hover_at(&mut self, pointer: Option<Pointer>) {
        self.lanes.pointer = pointer;
        if let Some(pointer) = pointer {
            self.lanes.pointed = self.lane_at(pointer).map(|(lane, _)| lane.place);
        }
        self.point_in_focus();
    }

    fn point_in_focus(&mut self) {
        let under = self.lanes.pointer.and_then(|pointer| self.lane_at(pointer));
        let under = under.filter(|(lane, _)| lane.place == self.device_place).map(|(_, pointer)| pointer);
        self.pointer = if self.has_lanes() { under } else { self.lanes.pointer };
    }

    /// A place of the canvas in the pixels of the focused lane's window.
    pub(super) fn in_focus(&self, pointer: Pointer) -> Pointer {
        let bottom = self.focused_lane().map_or(0, |lane| lane.bottom_px);
        Pointer { y: pointer.y - f64::from(bottom), ..pointer }
    }

    /// Gives the lane at a place of the canvas the focus; the place in its window. The pointer is there.
    pub(super) fn focus_at(&mut self, pointer: Pointer) -> Pointer {
        if let Some(place) = self.lane_at(pointer).map(|(lane, _)| lane.place) {
            self.focus(place);
        }
        self.hover_at(Some(pointer));
        self.in_focus(pointer)
    }

    /// Where the cursor is on the canvas.
    pub fn cursor_on_canvas(&self) -> Option<Pointer> {
        if self.tools.cursor.keys.is_none() {
            return self.lanes.pointer;
        }
        let (at, lane) = (self.cursor_px()?, self.focused_lane()?);
        Some(Pointer { y: at.y + f64::from(lane.bottom_px), ..at })
    }

    /// The focused lane as a canvas of its own.
    pub(super) fn focused_canvas(&self) -> Option<Canvas> {
        self.lane_canvas(self.device_place).map(|(_, canvas)| canvas)
    }

    /// The plane of a device: over the axis it shares, with room for what is drawn besides the stack.
    pub(super) fn plane_of(&self, device: &DeviceSummary) -> Plane {
        self.raised(self.shared_axis().plane(device))
    }

    fn raised(&self, plane: Plane) -> Plane {
        plane.raised_to(self.tools.capacity.unwrap_or(0))
    }

    /// The picture was dragged: all lanes sideways, up and down the one where the pointer is.
    pub(super) fn drag(&mut self, right_px: f64, up_px: f64) {
        let pointed = self.lanes.pointed.filter(|_| self.has_lanes()).unwrap_or(self.device_place);
        self.navigate(|plane, view| plane.moved(view, -right_px, 0.0));
        self.navigate_lane(pointed, |plane, view| plane.moved(view, 0.0, -up_px));
    }
}

/// The window at the size of its lane; everything where there was none.
fn sized(plane: Plane, view: Option<View>, canvas: Canvas) -> View {
    match view {
        Some(view) if (view.width_px, view.height_px) == (canvas.width_px, canvas.height_px) => view,
        Some(view) => plane.resized(view, canvas),
        None => plane.fit(canvas),
    }
}
