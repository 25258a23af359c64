//! What a person puts on the picture.

use crate::cursor::Cursor;
use crate::drag::Drag;
use crate::markers::Markers;
use crate::ruler::Ruler;
use crate::trail::Trail;
use crate::turn::Kept;
use engine::protocol::{At, MomentFacts};
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
    pub(crate) kept: Option<Kept>,
    /// The question about moments that was not answered yet.
    pub(crate) asked: Option<Asked>,
}

/// A question about moments.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) serial: u32,
    /// The cursor's moment, where that is among them.
    pub(crate) cursor: Option<u32>,
    pub(crate) at: Vec<At>,
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

    pub(crate) fn take(&mut self, at: At, facts: MomentFacts) {
        if self.at == at {
            self.facts = Some(facts);
        }
    }
}

pub(crate) fn for_each_point(tools: &mut Tools, device: i64, look: &mut dyn FnMut(&mut Point)) {
    let ruler = tools.ruler.ends.iter_mut().flatten();
    for point in ruler.chain(tools.turning.iter_mut().flatten()) {
        look(point);
    }
    for marker in tools.markers.all.iter_mut().filter(|marker| marker.device == device) {
        look(&mut marker.point);
    }
}
