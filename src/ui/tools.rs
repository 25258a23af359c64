//! What a person puts on the picture: cursor, ruler, box, markers, the capacity line, and the windows looked at before.

use super::cursor::{Cursor, column_under};
use super::drag::Drag;
use super::effect::{Effect, Pointer};
use super::feature::{Change, Turn};
use super::markers::Markers;
use super::part::Part;
use super::ruler::Ruler;
use super::shared::Shared;
use super::shared_axis::own_width;
use super::trail::Trail;
use super::turn::Kept;
use engine::protocol::{Answer, At, MomentFacts, Question};
use picture::timeline::Axis;

/// Everything of this kind.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    /// The one place that is pointed at, by pointer or keys.
    pub cursor: Cursor,
    /// What is measured.
    pub ruler: Ruler,
    /// What a press of the pointer that moves does.
    pub drag: Drag,
    /// The markers.
    pub markers: Markers,
    /// The windows before and after this one.
    pub trail: Trail,
    /// Bytes that the GPU has, as typed.
    pub capacity: Option<u64>,
    /// The window's edges, to be found again on the other axis.
    pub turning: Option<[Point; 2]>,
    /// The selection and a moment of it, to be found again in another order.
    pub(super) kept: Option<Kept>,
    /// The question about moments that was not answered yet.
    asked: Option<Asked>,
}

/// A question about moments.
#[derive(Clone, Debug)]
struct Asked {
    serial: u32,
    /// The cursor's moment, where that is among them.
    cursor: Option<u32>,
    at: Vec<At>,
}

/// A point of the picture that stays while the picture moves, is scaled, or gets the other axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Its moment, as it was pointed at.
    pub at: At,
    /// Its height in bytes.
    pub byte: u64,
    /// What the worker says of the moment.
    pub facts: Option<MomentFacts>,
}

impl Point {
    /// A point that nothing is known of yet.
    pub fn new(at: At, byte: u64) -> Point {
        Point { at, byte, facts: None }
    }

    /// Where it is on an axis; `None` while only the worker knows.
    pub fn x(&self, axis: Axis) -> Option<f64> {
        match (self.at, axis) {
            (At::X(of, x), axis) if of == axis => Some(x),
            (At::Moment(moment), Axis::Events) => Some(f64::from(moment) + 0.5),
            _ => self.facts.map(|facts| facts.place.on(axis)),
        }
    }

    /// Its moment; `None` while only the worker knows.
    pub fn moment(&self) -> Option<u32> {
        match (self.at, self.facts) {
            (_, Some(facts)) => Some(facts.moment),
            (At::Moment(moment), None) => Some(moment),
            (At::X(Axis::Events, x), None) => Some(x.max(0.0) as u32),
            (At::X(Axis::Time, _) | At::After(_) | At::MostReserved, None) => None,
        }
    }

    fn take(&mut self, at: At, facts: MomentFacts) {
        if self.at == at {
            self.facts = Some(facts);
        }
    }
}

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
        let x = view.x_from_column(pointer.x).clamp(0.0, own_width(self.device()?, view.axis) as f64);
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
    state.tools.asked = Some(Asked { serial, cursor, at: at.clone() });
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

fn for_each_point(tools: &mut Tools, device: i64, look: &mut dyn FnMut(&mut Point)) {
    let ruler = tools.ruler.ends.iter_mut().flatten();
    for point in ruler.chain(tools.turning.iter_mut().flatten()) {
        look(point);
    }
    for marker in tools.markers.all.iter_mut().filter(|marker| marker.device == device) {
        look(&mut marker.point);
    }
}
