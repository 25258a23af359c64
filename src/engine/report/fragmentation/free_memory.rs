//! Free and stranded bytes over the trace. They do not depend on the cursor, so they are computed once per device.

use super::over_time::FreeOverTime;
use super::stranded_bytes;
use crate::open::OpenFile;
use crate::stranded::Ledger;
use base::slice::{SliceResult, TimeSlice};
use history::replay::{DeviceHistory, SegmentLifetimes};

/// Results of two passes over the events of a device.
pub(in crate::report) struct FreeMemory {
    pub(super) ledger: Ledger,
    pub(super) over_time: FreeOverTime,
}

base::heap_bytes!(FreeMemory: ledger);

impl FreeMemory {
    /// Starts the passes. [`FreeMemory::step`] does them.
    pub(in crate::report) fn new(file: &OpenFile, history: &DeviceHistory, segments: &SegmentLifetimes) -> FreeMemory {
        FreeMemory { ledger: stranded_bytes::ledger(file, history, segments), over_time: FreeOverTime::new(history) }
    }

    /// Continues the passes until they are done or the time slice is used up.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up.
    pub(in crate::report) fn step(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        segments: &SegmentLifetimes,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        self.ledger.step(file, history, segments, slice)?;
        self.over_time.step(file, history, slice)
    }
}
