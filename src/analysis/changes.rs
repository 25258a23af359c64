//! Iteration over all changes of live bytes, in slices: allocations made before recording first, then event by event.

use base::slice::{SliceResult, TimeSlice};
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, DeviceHistory};

/// A change of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub id: AllocationId,
    /// First moment after the change. 0 for allocations from before recording.
    pub moment: u32,
    /// Change of the requested live bytes: the allocation's size, 0 if its free is requested but not complete, or minus
    /// its size.
    pub bytes: i64,
    /// Change of the bytes awaiting free.
    pub awaiting: i64,
}

/// Progress of the iteration.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes {
    early: u32,
    event: u32,
}

impl Changes {
    /// Passes the next changes to `each`, in order. Allocations awaiting free since before the recording are omitted.
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
