//! What is known of one device.

use super::allocations::{AllocationId, Allocations};
use crate::units::{EventIdx, Moment};

/// The history of one device: its events, its allocations, its totals.
#[derive(Clone, Debug, Default)]
pub struct DeviceHistory {
    /// Every allocation.
    pub allocations: Allocations,
}

impl DeviceHistory {
    /// How many events the trace has; moments run from 0 to this number.
    pub fn event_count(&self) -> u32 {
        0
    }

    /// The allocation that `event` brings to life (`true`) or ends (`false`), if it does either: what the live set needs.
    pub fn change(&self, event: EventIdx) -> Option<(AllocationId, bool)> {
        let _ = event;
        None
    }

    /// Bytes reserved from the driver at `moment`.
    pub fn reserved_at(&self, moment: Moment) -> u64 {
        let _ = moment;
        0
    }
}
