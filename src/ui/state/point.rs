//! A fixed point of the timeline.

use picture::timeline::Axis;
use protocol::{MomentFacts, MomentSpec};

/// A fixed point of the timeline. Its position does not change when the window moves or is zoomed, or when the axis is
/// switched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Position in time, as specified by the user: a moment, a position on an axis, or a named event.
    pub at: MomentSpec,
    /// Height in bytes.
    pub byte: u64,
    /// The worker's facts about the moment.
    pub facts: Option<MomentFacts>,
}

impl Point {
    /// Creates a point whose facts are not yet known.
    pub fn new(at: MomentSpec, byte: u64) -> Point {
        Point { at, byte, facts: None }
    }

    /// Returns the position on an axis. `None` if it depends on facts that are not yet known.
    pub fn x(&self, axis: Axis) -> Option<f64> {
        match (self.at, axis) {
            (MomentSpec::X(of, x), axis) if of == axis => Some(x),
            (MomentSpec::Moment(moment), Axis::Events) => Some(f64::from(moment) + 0.5),
            _ => self.facts.map(|facts| facts.position.get(axis)),
        }
    }

    /// Returns the moment. `None` if it depends on facts that are not yet known.
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
