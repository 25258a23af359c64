//! The timeline of a file that is still loading. It grows as events are decoded, and can be panned and zoomed. The
//! final timeline then replaces it at the same position.
//!
//! ```text
//! Reply::Partial ──▶ PartialState ──▶ a summary, as for an open file ──▶ plane, window, axes
//!                          └────────▶ heights ──▶ a Scene without allocations
//! ```

pub use crate::state::partial::PartialState;

use crate::plot::lane_focus::show_device;
use crate::plot::lane_scenes;
use crate::state::drawing::Geometry;
use crate::state::effect::Effect;
use crate::state::navigate::Plane;
use crate::state::outbox::Outbox;
use crate::state::partial::max_bytes;
use crate::state::shared::Shared;
use crate::state::stage::Stage;
use base::units::{Bytes, group_digits};
use picture::timeline::scene::{BAND, FADED, SceneColumns};
use picture::timeline::{Axis, Paint, Quad, QuadIdentity, Scene, View};
use protocol::{PartialDevice, PartialFile, Plot};
use std::rc::Rc;

/// The window to restore after the plane has grown.
#[derive(Clone, Copy)]
struct KeptView {
    view: View,
    /// For each axis (events, bytes), true if it was fully visible. It is then kept fully visible.
    fully_visible: [bool; 2],
}

impl KeptView {
    fn from_state(state: &Shared) -> Option<KeptView> {
        let (view, plane) = (state.view()?, state.plane()?);
        let fit = plane.fit_like(view);
        Some(KeptView { view, fully_visible: [view.x_per_px >= fit.x_per_px, view.bytes_per_px >= fit.bytes_per_px] })
    }

    fn apply_to(self, plane: Plane) -> View {
        let KeptView { mut view, fully_visible } = self;
        if fully_visible[0] {
            (view.x_per_px, view.left_px) = (f64::MAX, 0);
        }
        if fully_visible[1] {
            (view.bytes_per_px, view.bottom_px) = (f64::MAX, 0);
        }
        plane.clamped(view)
    }
}

/// Stores and draws newly decoded data. Does nothing if another file was open before, because that file may be
/// restored.
pub(crate) fn on_partial(state: &mut Shared, file: PartialFile) {
    let is_drawn = state.previous.is_none() && state.axis == Axis::Events && state.plot_settings.plot == Plot::Stack;
    let kept = KeptView::from_state(state);
    let shown = state.drawn_device().map(|device| device.device);
    let Stage::Loading(loading) = &mut state.stage else { return };
    if !is_drawn || file.devices.is_empty() {
        return;
    }
    let is_chosen = loading.partial.as_ref().is_some_and(|unfinished| unfinished.is_chosen)
        || kept.is_some_and(|kept| kept.fully_visible != [true; 2]);
    let devices = &file.summary.devices;
    let index = devices.iter().position(|device| is_chosen && Some(device.device) == shown);
    let index = index.unwrap_or_else(|| file.summary.default_device());
    let is_same = devices.get(index).map(|device| device.device) == shown;
    loading.partial = Some(Box::new(PartialState::new(file, is_chosen)));
    if is_same {
        state.device_index = index;
        state.focused_mut().view = kept.zip(state.plane()).map(|(kept, plane)| kept.apply_to(plane));
        // The other lanes start at the same position as this one.
        state.lanes.iter_mut().filter(|(lane, _)| *lane != index).for_each(|(_, lane)| lane.view = None);
        lane_scenes::redraw(state);
    } else {
        show_device(state, index);
    }
}

/// Records that the user has chosen a device while the file is loading.
pub(crate) fn on_device_chosen(state: &mut Shared) {
    if let Stage::Loading(loading) = &mut state.stage {
        loading.partial.iter_mut().for_each(|unfinished| unfinished.is_chosen = true);
    }
}

/// State of the partial timeline that is kept when the file is opened.
pub(crate) struct CarriedOver {
    device: Option<i64>,
    is_chosen: bool,
    kept: Option<KeptView>,
}

/// Returns the state to keep when the file is opened. `None` if no partial timeline was drawn.
pub(crate) fn carry_over(state: &Shared) -> Option<CarriedOver> {
    let unfinished = state.partial()?;
    let device = state.drawn_device().map(|device| device.device);
    let kept = KeptView::from_state(state).filter(|kept| kept.fully_visible != [true; 2]);
    Some(CarriedOver { device, is_chosen: unfinished.is_chosen, kept })
}

impl CarriedOver {
    /// Returns the index of the device that the user chose or zoomed. `None` if the user did neither.
    pub(crate) fn chosen_device(&self, state: &Shared) -> Option<usize> {
        self.device.filter(|_| self.is_chosen || self.kept.is_some()).and_then(|device| place_of(state, device))
    }

    /// Restores the window, unless another device is shown or a link sets the window.
    pub(crate) fn restore(self, state: &mut Shared) {
        let is_same =
            state.device().map(|device| device.device) == self.device && state.linked.pending_window.is_none();
        if let (true, Some(kept), Some(plane)) = (is_same, self.kept, state.plane()) {
            state.focused_mut().view = Some(kept.apply_to(plane));
        }
    }
}

fn place_of(state: &Shared, device: i64) -> Option<usize> {
    state.drawn_file()?.devices.iter().position(|other| other.device == device)
}

/// Redraws the partial timeline if new data was decoded or the window has changed.
pub(crate) fn redraw_partial(state: &mut Shared, out: &mut Outbox) {
    if state.partial().is_none() || state.canvas.is_none() {
        return;
    }
    lane_scenes::arrange_lanes(state);
    let mut drawn = Vec::new();
    for lane in state.shown_lanes() {
        let plane = state.plane_of(lane.device);
        let is_covered = lane.geometry.scene.as_ref().is_some_and(|scene| plane.is_covered(*lane.view, &scene.view));
        let device = state.partial().and_then(|unfinished| unfinished.file.devices.get(lane.index));
        if let Some(device) = device.filter(|_| !is_covered || lane.geometry.is_stale) {
            drawn.push((lane.index, Rc::new(scene(device, plane.with_margin(*lane.view)))));
        }
    }
    for (device_place, scene) in drawn {
        let plot_settings = state.plot_settings.without_highlight();
        state.lanes.get_mut(device_place).geometry =
            Geometry { scene: Some(scene.clone()), plot_settings, ..Geometry::default() };
        out.push(Effect::Upload { device_place, scene });
    }
}

/// Builds a scene from the heights of the stack, without allocations. Adjacent columns of equal height are merged.
fn scene(device: &PartialDevice, view: View) -> Scene {
    let mut columns = SceneColumns::default();
    let (mut quads, mut identities) = (Vec::new(), Vec::new());
    let end = view.column_from_x(device.events as f64 + 1.0).ceil().clamp(0.0, f64::from(view.width_px)) as i32;
    let at = |column: i32| view.x_from_column(f64::from(column)).max(0.0) as u64;
    let row = |bytes: u64| view.row_from_bytes(bytes).clamp(0, view.height_px.into()) as i16;
    for column in 0..end {
        let moment = at(column);
        let [total, reserved] = max_bytes(device, [moment, at(column + 1)]);
        if columns.total.last() == Some(&total) && columns.reserved.last() == Some(&reserved) {
            continue;
        }
        columns.edge_px.push(column);
        columns.moment.push(moment as u32);
        columns.moments.push(1 << device.bin_bits);
        columns.total.push(total);
        columns.reserved.push(reserved);
        columns.pending.push(0);
        columns.hidden.push(0);
        columns.hidden_largest.push(0);
    }
    columns.edge_px.push(end.max(0));
    for (edges, total) in columns.edge_px.windows(2).zip(&columns.total) {
        let (x, y) = ([edges[0] as i16, edges[1] as i16], [row(0), row(*total)]);
        quads.push(Quad { x, y, paint: (u32::from(Paint::NO_STACK.0) + FADED) | BAND });
        identities.push(QuadIdentity { first: 0, last: 0, count: 0, bytes: [0; 2] });
    }
    Scene { view, band_px: 1, columns, quads, identities, ground: None }
}

/// Returns labels and values for the page header, such as the peak among the events decoded so far.
pub fn header_figures(state: &Shared) -> Vec<(&'static str, String)> {
    let Some(device) = state.partial().and_then(|_| state.drawn_device()) else { return Vec::new() };
    vec![
        // The baseline is an estimate until all events are decoded.
        ("Peak so far", ["≈ ", &Bytes(device.drawn_peak).to_string()].concat()),
        ("Live", ["≈ ", &Bytes(device.end_requested).to_string()].concat()),
        ("Allocations", group_digits(device.allocations)),
    ]
}
