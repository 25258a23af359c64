//! Free and stranded bytes over the trace. They do not depend on the cursor, so they are computed once per device.

use super::over_time::FreeOverTime;
use super::stranded_bytes;
use crate::side::Side;
use crate::stranded::Ledger;
use base::slice::{SliceResult, TimeSlice};
use history::replay::SegmentLifetimes;

/// Results of two passes over the events of a device.
pub(in crate::report) struct FreeMemory {
    pub(super) ledger: Ledger,
    pub(super) over_time: FreeOverTime,
}

base::heap_bytes!(FreeMemory: ledger);

impl FreeMemory {
    /// Starts the passes. [`FreeMemory::step`] does them.
    pub(in crate::report) fn new(side: Side<'_>, segments: &SegmentLifetimes) -> FreeMemory {
        FreeMemory { ledger: stranded_bytes::ledger(side, segments), over_time: FreeOverTime::new(side.history) }
    }

    /// Continues the passes until they are done or the time slice is used up.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up.
    pub(in crate::report) fn step(
        &mut self,
        side: Side<'_>,
        segments: &SegmentLifetimes,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        self.ledger.step(side, segments, slice)?;
        self.over_time.step(side, slice)
    }
}
