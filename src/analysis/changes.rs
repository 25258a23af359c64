//! One run over everything that changes what is live: allocations from before the recording first, then event by event, in slices.

use base::slice::{Slice, Sliced};
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, DeviceHistory};

/// What happens to an allocation, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub id: AllocationId,
    /// The first moment after it: 0 for what was allocated before recording.
    pub moment: u32,
    /// By how many requested bytes what is live grows: all of the allocation's, none of them where its free is requested and does not
    /// complete yet, or, negative, all of them again.
    pub bytes: i64,
    /// By how many bytes what awaits its free grows.
    pub awaiting: i64,
}

/// How far the run is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes {
    early: u32,
    event: u32,
}

impl Changes {
    /// Hands out the changes from where it stopped, in their order. What awaits its free from before the recording on is not among them.
    ///
    /// # Errors
    /// The time is up.
    #[inline]
    pub fn step(&mut self, history: &DeviceHistory, slice: &mut Slice, mut each: impl FnMut(Change)) -> Sliced {
        let allocations = &history.allocations;
        let bytes = |id| i64::try_from(allocations.size(id)).unwrap_or(i64::MAX);
        while self.early < allocations.early() as u32 {
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
            if let Some(turn) = history.turn(event)
                && turn.changes()
            {
                each(Change { id: turn.id, moment: turn.moment, bytes: turn.bytes(), awaiting: turn.awaiting });
            }
        }
        Ok(())
    }
}
