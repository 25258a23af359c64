//! What a person puts on the picture: cursor, ruler, box, markers, the capacity line, and the windows looked at before.

mod data;
mod point;

pub use data::Tools;
pub(crate) use data::{PendingMoments, for_each_point};
pub use point::Point;

use super::change::{Change, Turn};
use super::cursor::column_under;
use super::effect::{Effect, Pointer};
use super::markers::Markers;
use super::navigate::own_end;
use super::part::Part;
use super::shared::Shared;
use engine::protocol::{Answer, At, Question};
use picture::timeline::Axis;

/// How it takes part.
pub(super) const PART: Part = Part { reset, asks: &[(Turn::Last, ask)], take };

/// What was put on the picture goes with it; markers stay with their device until the file goes.
fn reset(state: &mut Shared, change: Change) {
    match change {
        Change::File => state.tools.markers = Markers::default(),
        Change::Device | Change::Lane => {
            let Tools { capacity, markers, .. } = std::mem::take(&mut state.tools);
            state.tools = Tools { capacity, markers, ..Tools::default() };
        }
        Change::Categories | Change::InternalFrames => {}
    }
}

impl Shared {
    /// The point under the pointer: the one moment that the pixel shows, or the exact place where it shows one moment only.
    pub(super) fn point_under(&self, pointer: Pointer) -> Option<Point> {
        let (view, scene) = (self.view.as_ref()?, self.geometry.scene.as_ref()?);
        let exact = self.point_at(pointer)?;
        let column = column_under(scene, view, pointer.x);
        let shown = column.and_then(|column| scene.columns.moment.get(column).zip(scene.columns.moments.get(column)));
        // Where a moment ends inside a pixel, the exact place may be of its neighbour.
        let is_other = |moment: u32| matches!(exact.at, At::X(Axis::Events, x) if x as u32 != moment);
        let moment = shown.filter(|(moment, moments)| **moments > 1 || is_other(**moment)).map(|(moment, _)| *moment);
        Some(moment.map_or(exact, |moment| Point::new(At::Moment(moment), exact.byte)))
    }

    /// The exact place of the pointer.
    pub(super) fn point_at(&self, pointer: Pointer) -> Option<Point> {
        let view = self.view?;
        let x = view.x_from_column(pointer.x).clamp(0.0, own_end(self.device()?, view.axis) as f64);
        Some(Point::new(At::X(view.axis, x), view.bytes_from_row(pointer.y).max(0.0) as u64))
    }
}

/// Asks for what is not known of the cursor's moment and of every point: one question at a time.
fn ask(state: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    if state.tools.asked.is_some() {
        return;
    }
    let cursor = state.cursor_moment().filter(|&moment| state.cursor_facts().is_none_or(|it| it.moment != moment));
    let mut at: Vec<At> = cursor.map(At::Moment).into_iter().collect();
    let tools = &mut state.tools;
    for_each_point(tools, device, &mut |point| {
        if point.facts.is_none() {
            at.push(point.at);
        }
    });
    if at.is_empty() {
        return;
    }
    let serial = state.next_serial();
    state.tools.asked = Some(PendingMoments { serial, cursor, at: at.clone() });
    effects.push(Effect::ask(serial, device, Question::Moments(at)));
}

/// Takes the worker's answer.
fn take(state: &mut Shared, serial: u32, answer: Answer, _: &mut Vec<Effect>) -> Option<Answer> {
    let Answer::Moments(moments) = answer else { return Some(answer) };
    let Some(asked) = state.tools.asked.take_if(|asked| asked.serial == serial) else {
        return Some(Answer::Moments(moments));
    };
    let device = state.device()?.device;
    for (at, facts) in asked.at.into_iter().zip(moments) {
        // Markers and rulers ask about moments as well.
        if asked.cursor.is_some_and(|cursor| at == At::Moment(cursor)) {
            state.tools.cursor.take(facts);
        }
        for_each_point(&mut state.tools, device, &mut |point| point.take(at, facts));
    }
    state.turn_if_known();
    None
}
