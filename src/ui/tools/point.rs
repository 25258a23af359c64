//! A point of the timeline that keeps its position while the window moves.

use engine::protocol::{MomentFacts, MomentSpec};
use picture::timeline::Axis;

/// A point of the timeline. It keeps its position while the window moves, is zoomed, or switches to the other axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Position in time, as specified by the user.
    pub at: MomentSpec,
    /// Height in bytes.
    pub byte: u64,
    /// The worker's facts about the moment.
    pub facts: Option<MomentFacts>,
}

impl Point {
    /// Creates a point without facts.
    pub fn new(at: MomentSpec, byte: u64) -> Point {
        Point { at, byte, facts: None }
    }

    /// Returns the position on an axis. `None` if it depends on facts that are missing.
    pub fn x(&self, axis: Axis) -> Option<f64> {
        match (self.at, axis) {
            (MomentSpec::X(of, x), axis) if of == axis => Some(x),
            (MomentSpec::Moment(moment), Axis::Events) => Some(f64::from(moment) + 0.5),
            _ => self.facts.map(|facts| facts.position.get(axis)),
        }
    }

    /// Returns the moment. `None` if it depends on facts that are missing.
    pub fn moment(&self) -> Option<u32> {
        match (self.at, self.facts) {
            (_, Some(facts)) => Some(facts.moment),
            (MomentSpec::Moment(moment), None) => Some(moment),
            (MomentSpec::X(Axis::Events, x), None) => Some(x.max(0.0) as u32),
            (
                MomentSpec::X(Axis::Time, _)
                | MomentSpec::After(_)
                | MomentSpec::PeakReserved
                | MomentSpec::OutOfMemory,
                None,
            ) => None,
        }
    }

    pub(crate) fn take(&mut self, at: MomentSpec, facts: MomentFacts) {
        if self.at == at {
            self.facts = Some(facts);
        }
    }
}
