//! Iterates over all changes in live bytes, in time slices: first allocations from before recording, then the changes
//! of each event.

use base::slice::{SliceResult, TimeSlice};
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, DeviceHistory};

/// A change in live bytes caused by one allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub id: AllocationId,
    /// Moment right after the change. 0 for allocations from before recording.
    pub moment: u32,
    /// Change in live (requested) bytes: plus the size when allocated, minus the size when freed. 0 when the free is
    /// requested but not yet complete.
    pub bytes: i64,
    /// Change in bytes awaiting free.
    pub awaiting: i64,
}

/// Resumable iteration over all changes in live bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes {
    early: u32,
    event: u32,
}

impl Changes {
    /// Calls `each` for the next changes, in order, until the time slice is used up. Allocations that were already
    /// awaiting free before recording are omitted.
    ///
    /// # Errors
    /// Returns an error if the time is up.
    #[inline]
    pub fn step(
        &mut self,
        history: &DeviceHistory,
        slice: &mut TimeSlice,
        mut each: impl FnMut(Change),
    ) -> SliceResult {
        let allocations = &history.allocations;
        let bytes = |id| i64::try_from(allocations.size(id)).unwrap_or(i64::MAX);
        while self.early < allocations.early_count() as u32 {
            slice.tick()?;
            let id = AllocationId(self.early);
            self.early += 1;
            if allocations.outlives(id, Moment::START) {
                each(Change { id, moment: 0, bytes: bytes(id), awaiting: 0 });
            }
        }
        while self.event < history.event_count() {
            slice.tick()?;
            let event = EventIdx(self.event);
            self.event += 1;
            if let Some(turn) = history.allocation_change(event)
                && turn.changes()
            {
                each(Change { id: turn.id, moment: turn.moment, bytes: turn.bytes(), awaiting: turn.awaiting_free });
            }
        }
        Ok(())
    }
}
