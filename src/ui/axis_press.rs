//! Pointer presses on the axis below the timeline. A press drags the cursor's handle or an edge of the range, or draws
//! a new range.

mod data;

pub use data::AxisPress;
pub(crate) use data::Grip;

use super::cursor::PositionRequest;
use super::effect::Pointer;
use super::shared::Shared;
use protocol::MomentSpec;

/// Distance, in CSS pixels, within which the cursor's handle or an edge of the range can be grabbed.
const GRAB_PX: f64 = 8.0;
/// Movement, in CSS pixels, up to which a press counts as a click.
const CLICK_PX: f64 = 3.0;

impl Shared {
    pub(super) fn on_axis_press(&mut self, press: AxisPress) {
        match press {
            AxisPress::Down(x) => {
                self.follow_pointer();
                self.cursor.grip = match self.grip_at(x) {
                    // The cursor can be dragged across slices as well.
                    Grip::Cursor => Grip::Cursor,
                    _ if self.slices.hovered.is_some() => Grip::Slice(x),
                    grip => grip,
                };
            }
            AxisPress::Move(x) => self.move_grip(x),
            AxisPress::Up => match std::mem::take(&mut self.cursor.grip) {
                Grip::FreeAxis(x) => self.set_cursor_at(Pointer { x, y: 0.0 }),
                // A dragged cursor has left the slice that was pressed, so nothing is selected then.
                Grip::Slice(_) | Grip::Cursor => self.select_slice(),
                Grip::None | Grip::Edge(_) => {}
            },
            AxisPress::Hover(at) => self.hover_slice(at),
            AxisPress::Leave => self.slices.hovered = None,
            AxisPress::DoubleClick => self.zoom_to_slice(),
        }
    }

    fn grip_at(&self, x: f64) -> Grip {
        let near = GRAB_PX * self.canvas.map_or(1.0, |canvas| canvas.scale);
        if self.cursor_x_px().is_some_and(|(cursor_x, _)| (cursor_x - x).abs() <= near) {
            return Grip::Cursor;
        }
        match (self.range_px(), self.cursor.range) {
            (Some([from, _]), Some(span)) if (from - x).abs() <= near => Grip::Edge(span.to),
            (Some([_, to]), Some(span)) if (to - x).abs() <= near => Grip::Edge(span.from),
            _ => Grip::FreeAxis(x),
        }
    }

    fn move_grip(&mut self, x: f64) {
        let Some(view) = self.view else { return };
        let Some(moment) = self.moment_under(x.clamp(0.0, f64::from(view.width_px) - 1.0)) else { return };
        if let Grip::FreeAxis(pressed) | Grip::Slice(pressed) = self.cursor.grip {
            let click = CLICK_PX * self.canvas.map_or(1.0, |canvas| canvas.scale);
            let Some(from) = self.moment_under(pressed).filter(|_| (x - pressed).abs() > click) else { return };
            self.cursor.grip = Grip::Edge(from);
            self.slices.hovered = None;
        }
        match self.cursor.grip {
            Grip::Cursor => {
                self.slices.hovered = None;
                self.cursor.extended_from = None;
                self.set_cursor(moment);
            }
            Grip::Edge(other) => self.set_fixed_range(other, moment),
            Grip::None | Grip::FreeAxis(_) | Grip::Slice(_) => {}
        }
    }

    /// Selects the range between two positions, given as fractions of the whole axis, 0 to 1.
    pub(super) fn select_range_between(&mut self, parts: [f64; 2]) {
        let Some(plane) = self.plane() else { return };
        let [from, to] = parts.map(|part| {
            let x = plane.start as f64 + part.clamp(0.0, 1.0) * plane.extent.width as f64;
            MomentSpec::X(self.axis, x.max(0.0))
        });
        self.request_position(PositionRequest { from, to: Some(to) });
    }
}
