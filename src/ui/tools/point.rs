//! A point of the picture that stays where it is while the window moves.

use engine::protocol::{At, MomentFacts};
use picture::timeline::Axis;

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
            (At::X(Axis::Time, _) | At::After(_) | At::MostReserved | At::OutOfMemory, None) => None,
        }
    }

    pub(crate) fn take(&mut self, at: At, facts: MomentFacts) {
        if self.at == at {
            self.facts = Some(facts);
        }
    }
}
