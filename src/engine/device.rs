//! What answers about one device of an open file are made of, and the bytes that its blocks take.

use super::found::Found;
use super::groups::Groups;
use history::replay::{AllocationId, DeviceHistory, Provenance, Rounding};
use history::snapshot::{BlockState, Snapshot};

/// What answers about one device are made of.
#[derive(Clone, Copy)]
pub(super) struct Open<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) history: &'a DeviceHistory,
    pub(super) groups: &'a Groups,
    pub(super) rounding: &'a Rounding,
    pub(super) found: Option<&'a Found>,
}

/// Where a number of rounded bytes comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Recorded,
    AtLeast,
}

impl Open<'_> {
    /// Bytes as the allocator handed them out, and whether the file says so; otherwise they are the fewest that it may have been.
    pub(super) fn rounded(&self, id: AllocationId) -> (u64, Known) {
        let allocations = &self.history.allocations;
        let size = allocations.size(id);
        if allocations.is_unexplained(id) {
            return (size, Known::AtLeast);
        }
        // Those that die have none: most need not be looked up.
        let block = allocations.died(id).is_none().then(|| self.history.end_block(id)).flatten();
        match block.and_then(|row| self.snapshot.blocks.get(row as usize)) {
            Some(block) => (block.size, Known::Recorded),
            None => (self.rounding.rounded(size), Known::AtLeast),
        }
    }

    /// The moments from which to which an allocation is pending; `None` when it never is.
    pub(super) fn pending(&self, id: AllocationId) -> Option<[u32; 2]> {
        let Open { snapshot, history, .. } = self;
        let (_, died, _) = history.allocations.span(id);
        let mut from = history.allocations.pending_from(id);
        if from == u32::MAX && history.allocations.provenance(id) == Provenance::Static {
            // The trace knows nothing of it: it was pending before, and still is.
            let block = history.end_block(id).and_then(|row| snapshot.blocks.get(row as usize));
            if block.is_some_and(|block| block.state == BlockState::Pending) {
                from = 0;
            }
        }
        (from < died).then_some([from, died.min(history.event_count())])
    }

    /// The bytes a block takes, as far as anybody knows; less exact than [`Open::rounded`] of what nothing explains, and cheaper.
    pub(super) fn block_bytes(&self, id: AllocationId) -> u64 {
        // What is dead has no block; looking it up costs more than all else.
        match self.history.allocations.died(id) {
            Some(_) => self.rounding.rounded(self.history.allocations.size(id)),
            None => self.rounded(id).0,
        }
    }
}
