//! Focus among several lanes, and the effect of pointer and keys on a single lane.

use super::change::Change;
use super::effect::Pointer;
use super::lanes::{Lane, LaneLayout};
use super::navigate::Plane;
use super::parts;
use super::shared::Shared;
use picture::timeline::{Axis, View};

impl Shared {
    /// Focuses the lane of another device. Its window starts at the same position as the previously focused one.
    /// Returns false if there are no lanes or no such device.
    pub(super) fn focus(&mut self, place: usize) -> bool {
        if !self.has_lanes() || self.view.is_none() || place >= self.device_count() {
            return false;
        }
        if place == self.device_index {
            return true;
        }
        self.arrange_lanes();
        let aligned = self.aligned_cursor();
        let before = (self.device_index, self.view.take(), std::mem::take(&mut self.geometry));
        let shared = self.shared_axis();
        let origins = [before.0, place].map(|place| self.device_at(place).zip(before.1));
        let [from, to] = origins.map(|it| it.map_or(0, |(device, view)| shared.origin_px(device, view.x_per_px)));
        let at = self.lanes.others.iter().position(|lane| lane.index == place);
        let lane = at.map(|at| self.lanes.others.swap_remove(at));
        let (view, geometry) = lane.map_or_else(Default::default, |lane| (lane.view, lane.geometry));
        self.lanes.others.push(Lane { index: before.0, view: before.1, geometry: before.2 });
        self.clear_segment();
        self.device_index = place;
        let fitted = || Some(self.plane_of(self.drawn_device()?).fit(self.lane_canvas(place)?.1));
        let view = view.or_else(fitted).zip(before.1);
        let is_compared = self.comparing.pair.is_some();
        self.view = view.map(|(view, before)| match is_compared {
            // The window of a compared device is aligned already.
            true => view,
            false => View {
                x_per_px: before.x_per_px,
                left_px: before.left_px.saturating_add(from).saturating_sub(to),
                ..view
            },
        });
        self.geometry = geometry;
        parts::reset(self, Change::Lane);
        if let Some((moments, _)) = aligned {
            self.set_cursor(moments[usize::from(self.is_b_shown())]);
        }
        if self.axis == Axis::Time && self.device().is_some_and(|device| device.time_us.is_none()) {
            // The device has no timestamps, so the time axis cannot show any of its events.
            self.switch_axis([f64::NEG_INFINITY, f64::INFINITY]);
        }
        true
    }

    /// Switches between one device and all devices. If everything was visible, everything stays visible.
    pub(super) fn toggle_lanes(&mut self) {
        if self.device_count() < 2 {
            self.remark = Some("This snapshot has one device.".to_owned());
            return;
        }
        let saw_everything = self.plane().zip(self.view).is_some_and(|(plane, view)| plane.fit_like(view) == view);
        self.lanes.layout = match self.lanes.layout {
            LaneLayout::Single => LaneLayout::All,
            LaneLayout::All => LaneLayout::Single,
        };
        // The focused lane gets its scene first.
        self.lanes.last_requested = self.device_index.wrapping_sub(1);
        self.lanes.hovered = None;
        self.arrange_lanes();
        if saw_everything {
            self.fit_all_lanes();
        } else {
            self.navigate(|plane, view| plane.moved(view, 0.0, 0.0));
        }
    }

    /// Shows everything in all lanes.
    pub(super) fn fit_all_lanes(&mut self) {
        self.lanes.others.iter_mut().for_each(|lane| lane.view = None);
        self.navigate(|plane, view| plane.fit_like(view));
    }

    /// Applies `change` to the window of a lane. Its horizontal position still follows the focused lane.
    pub(super) fn navigate_lane(&mut self, place: usize, change: impl FnOnce(Plane, View) -> View) {
        if place == self.device_index {
            return self.navigate(change);
        }
        let plane = self.device_at(place).map(|device| self.plane_of(device));
        let lane = self.lanes.others.iter_mut().find(|lane| lane.index == place);
        if let (Some(plane), Some(lane)) = (plane, lane) {
            lane.view = lane.view.map(|view| change(plane, view));
        }
    }

    /// Handles a move of the pointer over the canvas, or its leaving (`None`).
    pub(super) fn set_canvas_pointer(&mut self, pointer: Option<Pointer>) {
        self.lanes.pointer = pointer;
        if let Some(pointer) = pointer {
            self.lanes.hovered = self.lane_at(pointer).map(|(lane, _)| lane.index);
        }
        self.update_pointer();
    }

    /// Updates the position of the pointer within the focused lane.
    pub(super) fn update_pointer(&mut self) {
        let under = self.lanes.pointer.and_then(|pointer| self.lane_at(pointer));
        let under = under.filter(|(lane, _)| lane.index == self.device_index).map(|(_, pointer)| pointer);
        self.pointer = if self.has_lanes() { under } else { self.lanes.pointer };
    }

    /// Converts a position on the canvas to the focused lane's window.
    pub(super) fn to_focused_lane(&self, pointer: Pointer) -> Pointer {
        let bottom = self.focused_lane().map_or(0, |lane| lane.bottom_px);
        Pointer { y: pointer.y - f64::from(bottom), ..pointer }
    }

    /// Focuses the lane under the pointer, and returns the pointer's position in its window.
    pub(super) fn focus_at(&mut self, pointer: Pointer) -> Pointer {
        if let Some(place) = self.lane_at(pointer).map(|(lane, _)| lane.index) {
            self.focus(place);
        }
        self.set_canvas_pointer(Some(pointer));
        self.to_focused_lane(pointer)
    }

    /// Returns the position of the crosshair on the canvas.
    pub fn crosshair_on_canvas(&self) -> Option<Pointer> {
        if self.tools.crosshair.by_keys.is_none() {
            return self.lanes.pointer;
        }
        let (at, lane) = (self.crosshair_px()?, self.focused_lane()?);
        Some(Pointer { y: at.y + f64::from(lane.bottom_px), ..at })
    }

    /// Pans all lanes horizontally, and the lane under the pointer vertically, by device pixels.
    pub(super) fn drag(&mut self, right_px: f64, up_px: f64) {
        let hovered = self.lanes.hovered.filter(|_| self.has_lanes()).unwrap_or(self.device_index);
        self.navigate(|plane, view| plane.moved(view, -right_px, 0.0));
        self.navigate_lane(hovered, |plane, view| plane.moved(view, 0.0, -up_px));
    }
}
