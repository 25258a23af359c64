//! Input of a timeline picture.

use super::order::Order;
use super::paint::Paint;
use history::replay::{AllocationId, Allocations, Curve, LiveSets, TimeAxis};

/// History of one device, borrowed, and the order and colours for drawing it.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub allocations: &'a Allocations,
    /// Checkpoints for finding the allocations that are live at a moment.
    pub live: &'a LiveSets,
    /// Stacking order. `None` is the allocation order, where an allocation's id is its rank.
    pub order: Option<&'a Order>,
    /// Wall-clock times, if the file has them.
    pub clock: Option<TimeAxis<'a>>,
    /// Curve of the requested bytes of all live allocations.
    pub requested: Curve<'a>,
    /// Curve of the reserved bytes, over the same moments.
    pub reserved: Curve<'a>,
    /// Curve of the requested bytes that are awaiting free, over the same moments.
    pub pending: Curve<'a>,
    pub paint: &'a dyn Fn(AllocationId) -> Paint,
    /// Predicate that selects the highlighted allocations. All others are faded. `None` fades nothing.
    pub highlight: Option<&'a dyn Fn(AllocationId) -> bool>,
}

impl Source<'_> {
    /// Returns the rank of an allocation, its position in the stacking order of all allocations.
    pub(super) fn rank(&self, id: AllocationId) -> u32 {
        self.order.map_or(id.0, |order| order.rank(id))
    }

    /// Calls `visit` with `(id, (allocated_at, freed_at, size))` for the allocations of these ranks, in order of rank.
    #[inline(always)]
    pub(super) fn for_each_in(&self, ranks: std::ops::Range<usize>, mut visit: impl FnMut(u32, (u32, u32, u64))) {
        match self.order {
            None => (ranks.start as u32..).zip(self.allocations.spans_in(ranks)).for_each(|(id, span)| visit(id, span)),
            Some(order) => ranks.for_each(|rank| {
                let id = order.id(rank as u32);
                visit(id.0, self.allocations.span(id));
            }),
        }
    }
}
