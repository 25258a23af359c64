//! Sequences of allocations that both traces have in common, and the windows that are paired.

use crate::sequence::Window;
use base::slice::{SliceResult, TimeSlice};
use base::units::Moment;
use engine::Side;

/// Allocations of a trace whose key also occurs in the other trace: their positions and keys.
#[derive(Default)]
pub(super) struct Sequence {
    pub(super) places: Vec<u32>,
    pub(super) keys: Vec<u32>,
    /// Number of allocations of the trace that have been examined.
    pub(super) next: usize,
}

impl Sequence {
    /// Collects the allocations whose key also occurs in the other trace.
    pub(super) fn step(&mut self, keys: &[u32], others: &[u32], slice: &mut TimeSlice) -> SliceResult {
        while let Some(part) = slice.next_range(&mut self.next, keys.len(), 2)? {
            for (place, &key) in part.clone().zip(keys.get(part).unwrap_or_default()) {
                if others.get(key as usize).is_some_and(|&count| count > 0) {
                    self.places.push(place as u32);
                    self.keys.push(key);
                }
            }
        }
        Ok(())
    }
}

/// Returns the parts of the traces that are paired separately: before the first step, within each step, between steps,
/// and after the last step.
pub(super) fn windows(sides: [&Side; 2], sequences: [&Sequence; 2], steps: &[[(u32, u32); 2]]) -> Vec<Window> {
    let place = |side: &Side, sequence: &Sequence, moment: u32| {
        let allocated_at = side.history.allocations.allocated_by(Moment(moment).0);
        sequence.places.partition_point(|&place| place < allocated_at) as u32
    };
    let mut windows = Vec::new();
    let mut from = (0, 0);
    let ends = sequences.map(|sequence| sequence.places.len() as u32);
    let places =
        steps.iter().flatten().map(|&(a, b)| (place(sides[0], sequences[0], a), place(sides[1], sequences[1], b)));
    for to in places.chain([(ends[0], ends[1])]) {
        let to = (to.0.max(from.0), to.1.max(from.1));
        windows.push(Window { a: (from.0, to.0), b: (from.1, to.1) });
        from = to;
    }
    windows
}
