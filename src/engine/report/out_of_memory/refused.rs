//! The OOM events, and what the file records of them.

use super::rooms::Rooms;
use crate::report::live_sites::LiveSites;
use crate::state::DeviceState;
use base::units::{EventIdx, Moment};
use history::replay::{Curve, DeviceHistory};
use history::snapshot::Action;

/// The OOM that is reported.
pub(super) struct Refused {
    pub(super) event: u32,
    pub(super) live: LiveSites,
    pub(super) state: DeviceState,
    pub(super) rooms: Rooms,
    /// The last large allocations before it, the newest first, and the event that is looked at next.
    pub(super) before: Vec<u32>,
    pub(super) next: u32,
}

/// What the file records of an OOM, and what follows from that alone.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    pub(super) event: u32,
    /// Bytes requested.
    pub(super) asked: u64,
    /// Bytes that were free on the device.
    pub(super) driver: u64,
    pub(super) reserved: u64,
    /// Live bytes; of these the bytes that are awaiting free.
    pub(super) requested: u64,
    pub(super) pending: u64,
}

impl Facts {
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

/// The OOM events, in order.
pub(super) fn refused(history: &DeviceHistory) -> impl Iterator<Item = u32> + '_ {
    history.note_events().filter(|&event| history.events.action(event) == Action::Oom)
}
