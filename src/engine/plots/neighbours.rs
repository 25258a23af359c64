//! Finds the live block at an address and the nearest live blocks below and above it, at one moment.

use crate::side::Side;
use base::units::Moment;
use history::replay::AllocationId;

/// A live block and its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LiveBlock {
    pub(crate) id: AllocationId,
    pub(crate) address: u64,
    /// End address of the block after rounding (exclusive).
    pub(crate) end: u64,
}

/// The live block at an address, and the nearest live blocks below and above.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Neighbours {
    pub(crate) at: Option<LiveBlock>,
    /// The nearest block below the address. If `at` is set, the nearest block below that block.
    pub(crate) below: Option<LiveBlock>,
    pub(crate) above: Option<LiveBlock>,
}

impl Neighbours {
    /// Finds the blocks around an address at a moment. Only blocks for which `is_wanted` returns true are considered.
    /// Takes time proportional to the number of live allocations.
    pub(crate) fn find(
        side: Side<'_>,
        moment: Moment,
        address: u64,
        is_wanted: impl Fn(AllocationId) -> bool,
    ) -> Neighbours {
        let allocations = &side.history.allocations;
        // The two highest blocks that start at or below the address, and the lowest one above it.
        let mut below: [Option<(u64, AllocationId)>; 2] = [None; 2];
        let mut above: Option<(u64, AllocationId)> = None;
        for id in side.history.live.live_at(allocations, moment) {
            let start = allocations.address(id);
            let is_nearer = match start.cmp(&address) {
                std::cmp::Ordering::Greater => above.is_none_or(|(nearest, _)| start < nearest),
                _ => below[1].is_none_or(|(nearest, _)| start > nearest),
            };
            let is_block = || allocations.size(id) > 0 && !allocations.is_unexplained(id) && is_wanted(id);
            if !is_nearer || !is_block() {
                continue;
            }
            let this = Some((start, id));
            if start > address {
                above = this;
            } else if below[0].is_none_or(|(nearest, _)| start >= nearest) {
                below = [this, below[0]];
            } else {
                below[1] = this;
            }
        }
        let live_block = |(address, id): (u64, AllocationId)| LiveBlock {
            id,
            address,
            end: address.saturating_add(side.device_data().block_bytes(id)),
        };
        let [nearest, next] = below.map(|below| below.map(live_block));
        let at = nearest.filter(|block| address < block.end);
        Neighbours { at, below: if at.is_some() { next } else { nearest }, above: above.map(live_block) }
    }
}
