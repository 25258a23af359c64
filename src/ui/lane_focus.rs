//! Focus among several lanes (the timelines of devices, one below another), and pointer input on a single lane.

use super::change::Change;
use super::effect::Pointer;
use super::lanes::{Lane, LaneLayout};
use super::navigate::Plane;
use super::reset::reset;
use super::shared::Shared;
use picture::timeline::{Axis, View};

impl Shared {
    /// Focuses the lane of the device at `index`, at the same horizontal position as the previously focused lane.
    /// Returns false if only one device is shown or the device does not exist.
    pub(super) fn focus(&mut self, index: usize) -> bool {
        if !self.has_lanes() || self.view.is_none() || index >= self.device_count() {
            return false;
        }
        if index == self.device_index {
            return true;
        }
        self.arrange_lanes();
        let aligned = self.aligned_cursor();
        let previous = (self.device_index, self.view.take(), std::mem::take(&mut self.geometry));
        let shared_axis = self.shared_axis();
        let origins = [previous.0, index].map(|index| self.device_at(index).zip(previous.1));
        let [from, to] = origins.map(|it| it.map_or(0, |(device, view)| shared_axis.origin_px(device, view.x_per_px)));
        let position = self.lanes.others.iter().position(|lane| lane.index == index);
        let lane = position.map(|position| self.lanes.others.swap_remove(position));
        let (view, geometry) = lane.map_or_else(Default::default, |lane| (lane.view, lane.geometry));
        self.lanes.others.push(Lane { index: previous.0, view: previous.1, geometry: previous.2 });
        self.clear_segment();
        self.device_index = index;
        let fitted = || Some(self.plane_of(self.drawn_device()?).fit(self.lane_canvas(index)?.1));
        let view = view.or_else(fitted).zip(previous.1);
        let is_compared = self.comparing.pair.is_some();
        self.view = view.map(|(view, previous)| match is_compared {
            // The window of a compared device is aligned already.
            true => view,
            false => View {
                x_per_px: previous.x_per_px,
                left_px: previous.left_px.saturating_add(from).saturating_sub(to),
                ..view
            },
        });
        self.geometry = geometry;
        reset(self, Change::Lane);
        if let Some((moments, _)) = aligned {
            self.set_cursor(moments[usize::from(self.is_b_shown())]);
        }
        if self.axis == Axis::Time && self.device().is_some_and(|device| device.time_us.is_none()) {
            // The device has no timestamps, so the time axis cannot show any of its events.
            self.switch_axis([f64::NEG_INFINITY, f64::INFINITY]);
        }
        true
    }

    /// Switches between showing one device and all devices. If the whole trace was visible, it stays visible.
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

    /// Zooms all lanes to the whole trace.
    pub(super) fn fit_all_lanes(&mut self) {
        self.lanes.others.iter_mut().for_each(|lane| lane.view = None);
        self.navigate(|plane, view| plane.fit_like(view));
    }

    /// Applies `change` to the window of the lane of the device at `index`. Horizontally, the window still follows the
    /// focused lane.
    pub(super) fn navigate_lane(&mut self, index: usize, change: impl FnOnce(Plane, View) -> View) {
        if index == self.device_index {
            return self.navigate(change);
        }
        let plane = self.device_at(index).map(|device| self.plane_of(device));
        let lane = self.lanes.others.iter_mut().find(|lane| lane.index == index);
        if let (Some(plane), Some(lane)) = (plane, lane) {
            lane.view = lane.view.map(|view| change(plane, view));
        }
    }

    /// Sets the position of the pointer on the canvas. `None` if the pointer has left the canvas.
    pub(super) fn set_canvas_pointer(&mut self, pointer: Option<Pointer>) {
        self.lanes.pointer = pointer;
        if let Some(pointer) = pointer {
            self.lanes.hovered = self.lane_at(pointer).map(|(lane, _)| lane.index);
        }
        self.update_pointer();
    }

    /// Updates the pointer's position within the focused lane from its position on the canvas.
    pub(super) fn update_pointer(&mut self) {
        let in_focused_lane = self.lanes.pointer.and_then(|pointer| self.lane_at(pointer));
        let in_focused_lane =
            in_focused_lane.filter(|(lane, _)| lane.index == self.device_index).map(|(_, pointer)| pointer);
        self.pointer = if self.has_lanes() { in_focused_lane } else { self.lanes.pointer };
    }

    /// Converts a position on the canvas to a position in the focused lane's window.
    pub(super) fn to_focused_lane(&self, pointer: Pointer) -> Pointer {
        let bottom = self.focused_lane().map_or(0, |lane| lane.bottom_px);
        Pointer { y: pointer.y - f64::from(bottom), ..pointer }
    }

    /// Focuses the lane under the pointer. Returns the pointer's position in that lane's window.
    pub(super) fn focus_at(&mut self, pointer: Pointer) -> Pointer {
        if let Some(index) = self.lane_at(pointer).map(|(lane, _)| lane.index) {
            self.focus(index);
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
