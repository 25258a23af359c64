//! Access to the data of one device of an open file, and block sizes derived from this data.

use super::groups::Groups;
use super::search_matches::SearchMatches;
use history::replay::{AllocationId, DeviceHistory, Provenance, Rounding};
use history::snapshot::{BlockState, Snapshot};

/// Borrowed data that is needed to answer queries about one device.
#[derive(Clone, Copy)]
pub(super) struct DeviceData<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) history: &'a DeviceHistory,
    pub(super) groups: &'a Groups,
    pub(super) rounding: &'a Rounding,
    pub(super) found: Option<&'a SearchMatches>,
}

/// Origin of a rounded size: recorded, or derived as a lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SizeSource {
    Recorded,
    LowerBound,
}

impl DeviceData<'_> {
    /// Returns the block size of an allocation in bytes. If the file does not record it, returns the smallest possible
    /// size, with [`SizeSource::LowerBound`].
    pub(super) fn rounded_size(&self, id: AllocationId) -> (u64, SizeSource) {
        let allocations = &self.history.allocations;
        let size = allocations.size(id);
        if allocations.is_unexplained(id) {
            return (size, SizeSource::LowerBound);
        }
        // Freed allocations have no recorded block, so most need no lookup.
        let block = allocations.freed_at(id).is_none().then(|| self.history.end_block(id)).flatten();
        match block.and_then(|row| self.snapshot.blocks.get(row as usize)) {
            Some(block) => (block.size, SizeSource::Recorded),
            None => (self.rounding.rounded(size), SizeSource::LowerBound),
        }
    }

    /// Returns the moments between which an allocation is awaiting free. `None` if it never awaits its free.
    pub(super) fn awaiting_free(&self, id: AllocationId) -> Option<[u32; 2]> {
        let DeviceData { snapshot, history, .. } = self;
        let (_, freed_at, _) = history.allocations.span(id);
        let mut from = history.allocations.awaiting_free_from(id);
        if from == u32::MAX && history.allocations.provenance(id) == Provenance::Static {
            // The trace has no events for it: its free was requested before and has not completed.
            let block = history.end_block(id).and_then(|row| snapshot.blocks.get(row as usize));
            if block.is_some_and(|block| block.state == BlockState::AwaitingFree) {
                from = 0;
            }
        }
        (from < freed_at).then_some([from, freed_at.min(history.event_count())])
    }

    /// Returns whether an allocation is awaiting free at a moment, which may be the end of the trace.
    pub(super) fn awaits_free_at(&self, id: AllocationId, moment: u32) -> bool {
        let freed_at = self.history.allocations.span(id).1;
        self.awaiting_free(id).is_some_and(|[from, _]| (from..freed_at).contains(&moment))
    }

    /// Returns the block size of an allocation in bytes, or a lower bound. Cheaper than [`DeviceData::rounded_size`],
    /// but less exact for unexplained bytes.
    pub(super) fn block_bytes(&self, id: AllocationId) -> u64 {
        // A freed allocation has no recorded block, and the lookup is the expensive part.
        match self.history.allocations.freed_at(id) {
            Some(_) => self.rounding.rounded(self.history.allocations.size(id)),
            None => self.rounded_size(id).0,
        }
    }
}
