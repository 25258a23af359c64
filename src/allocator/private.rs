//! Segments of private pools in recordings whose events do not name their pool (up to PyTorch 2.11).

use history::replay::{AllocationId, SegmentKind, SegmentLifetimes};
use std::collections::BTreeMap;

/// Address ranges of private pools, each with the events between which it exists.
#[derive(Clone, Debug, Default)]
pub(super) struct Private {
    /// Ranges that are created later, in descending order of their first event.
    to_come: Vec<Range>,
    /// Ranges that were created already, by address. They do not overlap.
    known: BTreeMap<u64, Range>,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    address: u64,
    end: u64,
    /// First moment at which the range exists. `to` is the first moment after it was released.
    from: u32,
    to: u32,
    place: u32,
}

impl Private {
    /// Collects the segments whose pool is known: those that still exist at the end, and address ranges adjacent to
    /// them.
    pub(super) fn new(lives: &SegmentLifetimes, place: impl Fn(&SegmentKind) -> u32) -> Private {
        let is_private = |kind: &SegmentKind| kind.pool.is_some_and(|pool| pool != (0, 0));
        if !lives.kinds().iter().any(is_private) {
            return Private::default();
        }
        let ids = (0..lives.ranges.len()).map(|id| AllocationId(id as u32));
        let range = |id: AllocationId| {
            let kind = lives.kind(id).filter(is_private)?;
            let (from, to, _) = lives.ranges.span(id);
            let address = lives.ranges.address(id);
            let end = address.saturating_add(lives.ranges.size(id));
            Some(Range { address, end, from, to, place: place(&kind) })
        };
        let mut to_come: Vec<Range> = ids.filter_map(range).collect();
        to_come.reverse();
        Private { to_come, known: BTreeMap::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.to_come.is_empty() && self.known.is_empty()
    }

    /// Returns the index of the stream and pool (place) of the private segment that contains this address at `event`.
    /// Events must be passed in ascending order.
    pub(super) fn place(&mut self, address: u64, event: u32) -> Option<u32> {
        while let Some(range) = self.to_come.pop_if(|range| range.from <= event.saturating_add(1)) {
            while let Some((&other, _)) =
                self.known.range(..range.end).next_back().filter(|(_, other)| other.end > range.address)
            {
                self.known.remove(&other);
            }
            self.known.insert(range.address, range);
        }
        let (_, range) = self.known.range(..=address).next_back()?;
        (address < range.end && event < range.to).then_some(range.place)
    }
}

#[cfg(test)]
#[path = "../../tests/units/allocator/private.rs"]
mod tests;
