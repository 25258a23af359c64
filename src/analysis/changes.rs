//! One run over everything that changes what is live: allocations from before the recording first, then event by event, in slices.

use base::slice::{Slice, Sliced};
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, DeviceHistory};

/// Something that an event does to an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Alloc,
    /// Its free was requested; it stays live until that completes.
    AwaitsFree,
    Free,
}

/// What happens to an allocation, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub id: AllocationId,
    pub turn: Turn,
    /// The first moment after it: 0 for what was allocated before recording.
    pub moment: u32,
    /// Requested bytes; at most 2^63 − 1.
    pub bytes: i64,
}

/// How far the run is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes {
    early: u32,
    event: u32,
}

impl Changes {
    /// Hands out the changes from where it stopped, in their order. What awaits its free from before the recording on has no change of
    /// its own for that.
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
                each(Change { id, turn: Turn::Alloc, moment: 0, bytes: bytes(id) });
            }
        }
        while self.event < history.event_count() {
            slice.tick()?;
            let event = EventIdx(self.event);
            self.event += 1;
            let moment = self.event;
            let (id, turn) = match history.change(event) {
                Some((id, is_born)) => (id, if is_born { Turn::Alloc } else { Turn::Free }),
                None => match history.allocation_of(event).filter(|_| history.pending_change(event) > 0) {
                    Some(id) => (id, Turn::AwaitsFree),
                    None => continue,
                },
            };
            each(Change { id, turn, moment, bytes: bytes(id) });
        }
        Ok(())
    }
}
