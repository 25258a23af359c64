//! Pointer presses on the axis below the timeline. A press drags the cursor's handle or an edge of the range, or draws
//! a new range.

pub use crate::state::axis_press::AxisPress;
pub(crate) use crate::state::axis_press::Grip;

use crate::plot::slices;
use crate::scope::{cursor, range};
use crate::state::cursor::PositionRequest;
use crate::state::effect::Pointer;
use crate::state::shared::Shared;
use protocol::MomentSpec;

/// Distance, in CSS pixels, within which the cursor's handle or an edge of the range can be grabbed.
const GRAB_PX: f64 = 8.0;
/// Movement, in CSS pixels, up to which a press counts as a click.
const CLICK_PX: f64 = 3.0;

pub(crate) fn on_press(state: &mut Shared, press: AxisPress) {
    match press {
        AxisPress::Down(x) => {
            state.tools.crosshair.follow_pointer();
            state.cursor.grip = match grip_at(state, x) {
                // The cursor can be dragged across slices as well.
                Grip::Cursor => Grip::Cursor,
                _ if state.slices.hovered.is_some() => Grip::Slice(x),
                grip => grip,
            };
        }
        AxisPress::Move(x) => move_grip(state, x),
        AxisPress::Up => match std::mem::take(&mut state.cursor.grip) {
            Grip::FreeAxis(x) => cursor::set_cursor_at(state, Pointer { x, y: 0.0 }),
            // A dragged cursor has left the slice that was pressed, so nothing is selected then.
            Grip::Slice(_) | Grip::Cursor => slices::select_slice(state),
            Grip::None | Grip::Edge(_) => {}
        },
        AxisPress::Hover(at) => slices::hover_slice(state, at),
        AxisPress::Leave => state.slices.hovered = None,
        AxisPress::DoubleClick => slices::zoom_to_slice(state),
    }
}

fn grip_at(state: &Shared, x: f64) -> Grip {
    let near = GRAB_PX * state.canvas.map_or(1.0, |canvas| canvas.scale);
    if cursor::x_px(state).is_some_and(|(cursor_x, _)| (cursor_x - x).abs() <= near) {
        return Grip::Cursor;
    }
    match (range::px(state), state.cursor.range) {
        (Some([from, _]), Some(span)) if (from - x).abs() <= near => Grip::Edge(span.to),
        (Some([_, to]), Some(span)) if (to - x).abs() <= near => Grip::Edge(span.from),
        _ => Grip::FreeAxis(x),
    }
}

fn move_grip(state: &mut Shared, x: f64) {
    let Some(view) = state.view() else { return };
    let Some(moment) = cursor::moment_under(state, x.clamp(0.0, f64::from(view.width_px) - 1.0)) else { return };
    if let Grip::FreeAxis(pressed) | Grip::Slice(pressed) = state.cursor.grip {
        let click = CLICK_PX * state.canvas.map_or(1.0, |canvas| canvas.scale);
        let Some(from) = cursor::moment_under(state, pressed).filter(|_| (x - pressed).abs() > click) else { return };
        state.cursor.grip = Grip::Edge(from);
        state.slices.hovered = None;
    }
    match state.cursor.grip {
        Grip::Cursor => {
            state.slices.hovered = None;
            state.cursor.extended_from = None;
            cursor::set_cursor(state, moment);
        }
        Grip::Edge(other) => cursor::set_fixed_range(state, other, moment),
        Grip::None | Grip::FreeAxis(_) | Grip::Slice(_) => {}
    }
}

/// Selects the range between two positions, given as fractions of the whole axis, 0 to 1.
pub(crate) fn select_range_between(state: &mut Shared, parts: [f64; 2]) {
    let Some(plane) = state.plane() else { return };
    let [from, to] = parts.map(|part| {
        let x = plane.start as f64 + part.clamp(0.0, 1.0) * plane.extent.width as f64;
        MomentSpec::X(state.axis, x.max(0.0))
    });
    cursor::request_position(state, PositionRequest { from, to: Some(to) });
}
