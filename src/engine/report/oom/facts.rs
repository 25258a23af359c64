//! OOM events, and the memory sizes that are recorded at each OOM.

use super::kind_sums::SumsByKind;
use crate::report::live_sites::LiveSites;
use crate::side::Side;
use crate::state::DeviceState;
use base::slice::{SliceResult, TimeSlice};
use base::units::{EventIdx, Moment};
use history::recorder::PausedBytes;
use history::replay::{AllocationId, Curve, DeviceHistory};
use history::snapshot::Action;

/// The OOM that the report is about, and the state of the device at that moment.
pub(super) struct OomState {
    pub(super) event: u32,
    pub(super) live: LiveSites,
    pub(super) state: DeviceState,
    pub(super) by_kind: SumsByKind,
    /// Events of the last large allocations before the OOM, newest first. The search runs backwards. `next` is the
    /// number of events not searched yet.
    pub(super) large_before: Vec<u32>,
    pub(super) next: u32,
}

/// Facts about an OOM, either recorded or derived from recorded numbers.
#[derive(Clone, Copy)]
pub(super) struct OomFacts {
    pub(super) event: u32,
    /// Bytes of the request that failed.
    pub(super) request: u64,
    /// Free bytes on the device, if recorded.
    pub(super) device_free: Option<u64>,
    pub(super) reserved: u64,
    /// Part of the reserved bytes that is paused, and so not on the device.
    pub(super) paused: u64,
    /// Live bytes. `awaiting_free` is the number of these bytes that are awaiting free.
    pub(super) live: u64,
    pub(super) awaiting_free: u64,
}

impl OomFacts {
    /// Returns the sum of the reserved bytes on the device and the bytes that are free there, if those are known.
    pub(super) fn accounted(&self) -> Option<u64> {
        self.device_free.map(|free| self.reserved.saturating_sub(self.paused).saturating_add(free))
    }

    pub(super) fn new(history: &DeviceHistory, event: u32, paused: &PausedBytes) -> OomFacts {
        let (_, request) = history.address_and_size(EventIdx(event));
        let device_free = history.free_at_oom(EventIdx(event));
        let moment = Moment::after(EventIdx(event));
        let positive = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
        let change = |event| history.awaiting_free_change(event);
        OomFacts {
            event,
            request,
            device_free,
            reserved: positive(history.reserved_at(moment)),
            paused: history.events.times.at(event).map_or(0, |us| paused.at(us)),
            live: positive(history.drawn_at(moment)),
            awaiting_free: positive(Curve::new(&history.awaiting_free, &change).at(moment)),
        }
    }
}

/// Rounded bytes of live blocks at each OOM, computed in one pass over the events.
#[derive(Default)]
pub(super) struct RoundedAtOoms {
    current: u64,
    next_early: u32,
    next_event: u32,
    /// Lower bound of the rounded bytes of live blocks at each OOM, in order of events.
    pub(super) at_ooms: Vec<u64>,
}

impl RoundedAtOoms {
    /// Continues processing the allocations made before recording, and then the events.
    pub(super) fn step(&mut self, side: Side<'_>, slice: &mut TimeSlice) -> SliceResult {
        let bytes = |id: AllocationId| side.device_data().rounded_size(id).0;
        while self.next_early < side.history.allocations.early_count() as u32 {
            slice.tick()?;
            let id = AllocationId(self.next_early);
            self.next_early += 1;
            if side.history.allocations.outlives(id, Moment::START) {
                self.current = self.current.saturating_add(bytes(id));
            }
        }
        while self.next_event < side.history.event_count() {
            slice.tick()?;
            let event = EventIdx(self.next_event);
            self.next_event += 1;
            match side.history.lifetime_change(event) {
                Some((id, true)) => self.current = self.current.saturating_add(bytes(id)),
                Some((id, false)) => self.current = self.current.saturating_sub(bytes(id)),
                None if side.history.events.action(event.0) == Action::Oom => self.at_ooms.push(self.current),
                None => {}
            }
        }
        Ok(())
    }
}

/// Returns a lower bound of the device's memory: the highest sum of reserved and free bytes at any OOM. Memory in use
/// outside the allocator and by other processes is not included.
pub(super) fn min_capacity(history: &DeviceHistory, paused: &PausedBytes) -> u64 {
    history.oom_events().filter_map(|event| OomFacts::new(history, event, paused).accounted()).max().unwrap_or(0)
}
