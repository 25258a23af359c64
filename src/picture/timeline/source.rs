//! What a timeline is drawn from.

use super::order::Order;
use super::paint::Paint;
use history::replay::{AllocationId, Allocations, Clock, Curve, LiveSets};

/// What is drawn: the history of one device, borrowed.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub allocations: &'a Allocations,
    /// What is live when.
    pub live: &'a LiveSets,
    /// How they are stacked; `None`: in order of birth, in which an allocation's id is its rank.
    pub order: Option<&'a Order>,
    /// Wall-clock, where the file has it.
    pub clock: Option<Clock<'a>>,
    /// The bytes of all live allocations.
    pub requested: Curve<'a>,
    /// The bytes taken from the driver, over the same moments.
    pub reserved: Curve<'a>,
    /// Of the requested bytes, those whose free was requested: the same moments.
    pub pending: Curve<'a>,
    pub paint: &'a dyn Fn(AllocationId) -> Paint,
    /// What stands out; all else is faded. `None`: nothing does.
    pub highlight: Option<&'a dyn Fn(AllocationId) -> bool>,
}

impl Source<'_> {
    /// Where an allocation stands among all, live or not.
    pub(super) fn rank(&self, id: AllocationId) -> u32 {
        self.order.map_or(id.0, |order| order.rank(id))
    }

    /// Calls `look` with `(id, (born, died, size))` of the allocations of these ranks, in order of rank. For linear passes that
    /// are cut into slices.
    #[inline(always)]
    pub(super) fn for_each_in(&self, ranks: std::ops::Range<usize>, mut look: impl FnMut(u32, (u32, u32, u64))) {
        match self.order {
            None => (ranks.start as u32..).zip(self.allocations.spans_in(ranks)).for_each(|(id, span)| look(id, span)),
            Some(order) => ranks.for_each(|rank| {
                let id = order.id(rank as u32);
                look(id.0, self.allocations.span(id));
            }),
        }
    }
}
