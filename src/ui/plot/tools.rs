//! Tools on the timeline: crosshair, ruler, zoom box, markers, the capacity line, and the history of windows.

pub use crate::state::point::Point;
pub use crate::state::tools::Tools;
pub(crate) use crate::state::tools::{PendingMoments, for_each_point};

use crate::plot::axis_switch;
use crate::state::change::AskPhase;
use crate::state::crosshair::column_under;
use crate::state::effect::Pointer;
use crate::state::navigate::device_axis_end;
use crate::state::outbox::Outbox;
use crate::state::part::Part;
use crate::state::shared::Shared;
use picture::timeline::Axis;
use protocol::{Answer, MomentSpec, Question};

/// Callbacks of the tools.
pub(crate) const PART: Part = Part { asks: &[(AskPhase::Last, ask)], take };

/// Returns the point under the pointer. If the pixel covers several moments, returns the moment that is drawn
/// there. Otherwise returns the exact position.
pub(crate) fn point_under(state: &Shared, pointer: Pointer) -> Option<Point> {
    let (view, scene) = (state.view()?, state.scene()?);
    let exact = point_at(state, pointer)?;
    let column = column_under(scene, &view, pointer.x);
    let drawn = column.and_then(|column| scene.columns.moment.get(column).zip(scene.columns.moments.get(column)));
    // If a moment ends within the pixel, the exact position may belong to its neighbour.
    let is_other = |moment: u32| matches!(exact.at, MomentSpec::X(Axis::Events, x) if x as u32 != moment);
    let moment = drawn.filter(|(moment, moments)| **moments > 1 || is_other(**moment)).map(|(moment, _)| *moment);
    Some(moment.map_or(exact, |moment| Point::new(MomentSpec::Moment(moment), exact.byte)))
}

/// Returns the exact position of the pointer as a point of the timeline.
pub(crate) fn point_at(state: &Shared, pointer: Pointer) -> Option<Point> {
    let view = state.view()?;
    let x = view.x_from_column(pointer.x).clamp(0.0, device_axis_end(state.device()?, view.axis) as f64);
    Some(Point::new(MomentSpec::X(view.axis, x), view.bytes_from_row(pointer.y).max(0.0) as u64))
}

/// Requests missing facts about the moments of the crosshair, the ruler's ends and the markers. Only one request is
/// pending at a time.
fn ask(state: &mut Shared, device: i64, out: &mut Outbox) {
    if state.tools.pending.is_some() {
        return;
    }
    let crosshair =
        state.crosshair_moment().filter(|&moment| state.crosshair_facts().is_none_or(|it| it.moment != moment));
    let mut at: Vec<MomentSpec> = crosshair.map(MomentSpec::Moment).into_iter().collect();
    let tools = &mut state.tools;
    for_each_point(tools, device, &mut |point| {
        if point.facts.is_none() {
            at.push(point.at);
        }
    });
    if at.is_empty() {
        return;
    }
    let serial = out.ask(device, Question::Moments(at.clone()));
    state.tools.pending = Some(PendingMoments { serial, crosshair, at });
}

/// Handles the worker's response about moments.
fn take(state: &mut Shared, serial: u32, answer: Answer, _: &mut Outbox) -> Option<Answer> {
    let Answer::Moments(moments) = answer else { return Some(answer) };
    let Some(pending) = state.tools.pending.take_if(|pending| pending.serial == serial) else {
        return Some(Answer::Moments(moments));
    };
    let device = state.device()?.device;
    for (at, facts) in pending.at.into_iter().zip(moments) {
        // The answer also contains the moments of markers and the ruler.
        if pending.crosshair.is_some_and(|cursor| at == MomentSpec::Moment(cursor)) {
            state.tools.crosshair.take(facts);
        }
        for_each_point(&mut state.tools, device, &mut |point| point.take(at, facts));
    }
    axis_switch::finish_axis_switch(state);
    None
}
