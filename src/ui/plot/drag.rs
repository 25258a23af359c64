//! Drags on the timeline: panning, measuring, or drawing a box to zoom into.

pub use crate::state::drag::Drag;

use crate::plot::{lane_focus, ruler, tools};
use crate::scope::{cursor, find};
use crate::state::binding::Modifiers;
use crate::state::drawing::BytesAxis;
use crate::state::effect::Pointer;
use crate::state::ruler::{Mode, Removed};
use crate::state::shared::Shared;

/// Minimum side length of the zoom box, in CSS pixels. If a side is shorter, its axis is not zoomed.
const MIN_BOX_PX: f64 = 8.0;

/// Starts a drag at `from`. The modifiers and the ruler mode determine its kind.
pub(crate) fn start(state: &mut Shared, from: Pointer, held: Modifiers) {
    let moves = !held.alt && !held.shift && state.tools.ruler.mode == Mode::Off;
    // A finger does not hover before it drags.
    lane_focus::set_canvas_pointer(state, Some(from));
    // Boxes and measurements belong to the device under the pointer.
    let from = if moves { from } else { lane_focus::focus_at(state, from) };
    lane_focus::set_canvas_pointer(state, None);
    state.tools.crosshair.follow_pointer();
    state.tools.drag = match (held, state.tools.ruler.mode) {
        (Modifiers { alt: true, .. }, _) | (Modifiers { shift: false, .. }, Mode::On) => Drag::Measure,
        (Modifiers { shift: true, .. }, _) => Drag::Box([from; 2]),
        _ => Drag::Move,
    };
    if state.tools.drag == Drag::Measure
        && let Some(point) = tools::point_at(state, from)
    {
        ruler::measure_from(state, point);
    }
}

/// Moves the free corner of the box or the free end of the ruler to `to`.
pub(crate) fn drag_to(state: &mut Shared, to: Pointer) {
    let Some(view) = state.view() else { return };
    let to = Pointer { x: to.x.clamp(0.0, view.width_px.into()), y: to.y.clamp(0.0, view.height_px.into()) };
    match &mut state.tools.drag {
        Drag::Box([_, corner]) => *corner = to,
        Drag::Measure => {
            if let Some(point) = tools::point_at(state, to) {
                ruler::measure_to(state, point);
            }
        }
        Drag::None | Drag::Move => {}
    }
}

/// Handles Escape: cancels the zoom box, else removes the ruler, else clears the range. Returns whether there was
/// anything to remove.
pub(crate) fn escape_drawing(state: &mut Shared) -> bool {
    let drag = std::mem::take(&mut state.tools.drag);
    matches!(drag, Drag::Box(_)) || ruler::remove(state) != Removed::NothingThere || cursor::end_range(state)
}

/// Handles Escape: clears the selected node or segment, else the selected allocation, else the search.
pub(crate) fn escape_selection(state: &mut Shared) {
    if state.views.node.take().is_some() || state.plots.selected_segment.take().is_some() {
        return;
    }
    if state.selection.is_none() && state.selecting.is_none() {
        find::set_text(state, String::new());
    }
    (state.selection, state.selecting) = (None, None);
    state.tools.crosshair.follow_pointer();
}

/// Ends the drag. If the drag drew a box, zooms to it.
pub(crate) fn end(state: &mut Shared) {
    if let Drag::Box([from, to]) = std::mem::take(&mut state.tools.drag) {
        let flat = MIN_BOX_PX * state.canvas.map_or(1.0, |canvas| canvas.scale);
        zoom_to(state, [from.x, to.x], [from.y, to.y], flat);
    }
}

/// Zooms to the range that the ruler measures. If the ruler is almost horizontal or vertical, only one axis is
/// zoomed.
pub(crate) fn zoom_to_ruler(state: &mut Shared) {
    let (Some([from, to]), Some(view)) = (state.tools.ruler.ends, state.view()) else {
        state.remark = Some("Measure something first.".to_owned());
        return;
    };
    let (Some(left), Some(right)) = (from.x(state.axis), to.x(state.axis)) else { return };
    let columns = [left, right].map(|x| view.column_from_x(x));
    let rows = [from.byte, to.byte].map(|byte| byte as f64 / view.bytes_per_px - view.bottom_px as f64);
    let longest = (columns[0] - columns[1]).abs().max((rows[0] - rows[1]).abs());
    let flat = MIN_BOX_PX * state.canvas.map_or(1.0, |canvas| canvas.scale);
    zoom_to(state, columns, rows, flat.min(longest));
}

/// Zooms to the area between these columns and rows of the window. An axis is not zoomed if its two values differ
/// by less than `flat` device pixels.
fn zoom_to(state: &mut Shared, columns: [f64; 2], rows: [f64; 2], flat: f64) {
    let flat = flat.max(f64::MIN_POSITIVE);
    let span = |[from, to]: [f64; 2]| (from.min(to), (from - to).abs());
    let ((left, width), (bottom, height)) = (span(columns), span(rows));
    if height >= flat {
        state.bytes_axis = BytesAxis::Free;
    }
    state.navigate(|plane, mut view| {
        if width >= flat {
            view = plane.view_between(view, [left, left + width].map(|column| view.x_from_column(column)));
        }
        if height >= flat {
            view = plane.view_of_rows(view, bottom, height);
        }
        view
    });
}
