//! Common interface of the reports. Each report is computed in time slices.

use super::shared::SharedResults;
use crate::open::OpenFile;
use base::slice::{SliceResult, TimeSlice};
use protocol::Report;

/// A report that is being computed.
pub(crate) trait Job {
    /// Continues computing the report and returns it once complete. It is empty if the file does not have the device.
    /// Must not be called again after that.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up. Another call continues the computation.
    fn step(&mut self, file: &mut OpenFile, slice: &mut TimeSlice) -> SliceResult<Report>;

    /// Returns the slot for results that are shared with other reports on the same device. `None` if this report needs
    /// no shared results.
    fn shared(&mut self) -> Option<&mut SharedResults> {
        None
    }
}
