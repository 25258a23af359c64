//! OOM events and their recorded numbers.

use super::rooms::Rooms;
use crate::open::OpenFile;
use crate::report::live_sites::LiveSites;
use crate::state::DeviceState;
use base::slice::{Slice, Sliced};
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, Curve, DeviceHistory};
use history::snapshot::Action;

/// The OOM that is reported.
pub(super) struct Refused {
    pub(super) event: u32,
    pub(super) live: LiveSites,
    pub(super) state: DeviceState,
    pub(super) rooms: Rooms,
    /// Events of the last large allocations before the OOM, newest first. `next` is the end of the events that are not
    /// searched yet.
    pub(super) before: Vec<u32>,
    pub(super) next: u32,
}

/// Recorded numbers of an OOM, and numbers that follow from them.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    pub(super) event: u32,
    /// Bytes requested.
    pub(super) asked: u64,
    /// Free bytes on the device.
    pub(super) driver: u64,
    pub(super) reserved: u64,
    /// Live bytes, including those awaiting free. `pending` has only the latter.
    pub(super) requested: u64,
    pub(super) pending: u64,
}

impl Facts {
    /// Returns the bytes that were reserved or free on the device.
    pub(super) fn accounted(&self) -> u64 {
        self.reserved.saturating_add(self.driver)
    }

    pub(super) fn of(history: &DeviceHistory, event: u32) -> Facts {
        let (driver, asked) = history.address_and_size(EventIdx(event));
        let moment = Moment::after(EventIdx(event));
        let positive = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
        let change = |event| history.pending_change(event);
        Facts {
            event,
            asked,
            driver,
            reserved: positive(history.reserved_at(moment)),
            requested: positive(history.drawn_at(moment)),
            pending: positive(Curve::new(&history.pending, &change).at(moment)),
        }
    }
}

/// Rounded bytes of live blocks at each OOM, from one pass over the events.
#[derive(Default)]
pub(super) struct Allocated {
    now: u64,
    next_early: u32,
    next_event: u32,
    /// Lower bound for each OOM, in order.
    pub(super) then: Vec<u64>,
}

impl Allocated {
    /// Continues the pass.
    pub(super) fn step(&mut self, file: &OpenFile, history: &DeviceHistory, slice: &mut Slice) -> Sliced {
        let bytes = |id: AllocationId| file.about(history).rounded(id).0;
        while self.next_early < history.allocations.early() as u32 {
            slice.tick()?;
            let id = AllocationId(self.next_early);
            self.next_early += 1;
            if history.allocations.outlives(id, Moment::START) {
                self.now = self.now.saturating_add(bytes(id));
            }
        }
        while self.next_event < history.event_count() {
            slice.tick()?;
            let event = EventIdx(self.next_event);
            self.next_event += 1;
            match history.change(event) {
                Some((id, true)) => self.now = self.now.saturating_add(bytes(id)),
                Some((id, false)) => self.now = self.now.saturating_sub(bytes(id)),
                None if history.events.action(event.0) == Action::Oom => self.then.push(self.now),
                None => {}
            }
        }
        Ok(())
    }
}

/// Returns a lower bound of the device's memory: the maximum of reserved plus free bytes at an OOM. Memory used by
/// other code and other processes is not included.
pub(super) fn least_capacity(history: &DeviceHistory) -> u64 {
    refused(history).map(|event| Facts::of(history, event).accounted()).max().unwrap_or(0)
}

/// Returns the OOM events, in order.
pub(super) fn refused(history: &DeviceHistory) -> impl Iterator<Item = u32> + '_ {
    history.note_events().filter(|&event| history.events.action(event) == Action::Oom)
}
