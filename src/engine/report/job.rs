//! Interface of the reports. Each report computes its result in time slices.

use super::shared::SharedResults;
use crate::open::OpenFile;
use crate::protocol::Report;
use base::slice::{SliceResult, TimeSlice};

/// A report in progress.
pub(crate) trait Job {
    /// Computes the report. Must not be called again after it has returned the report, which is empty if the file does
    /// not have the device.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up. Another call continues from there.
    fn step(&mut self, file: &mut OpenFile, slice: &mut TimeSlice) -> SliceResult<Report>;

    /// Returns the results that are shared with other reports on the same device, if this report needs them.
    fn shared(&mut self) -> Option<&mut SharedResults> {
        None
    }
}
