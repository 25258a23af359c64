//! Interface of the reports: each computes its result in time slices.

use super::shared::SharedResults;
use crate::open::OpenFile;
use crate::protocol::Report;
use base::slice::{SliceResult, TimeSlice};

/// A report in progress.
pub(crate) trait Job {
    /// Continues until the report is done. Must not be called again after that. If the file does not have the
    /// device, the report is empty.
    ///
    /// # Errors
    /// The time is up.
    fn step(&mut self, file: &mut OpenFile, slice: &mut TimeSlice) -> SliceResult<Report>;

    /// Returns the results that are shared with other reports on the same device, if the report needs them.
    fn shared(&mut self) -> Option<&mut SharedResults> {
        None
    }
}
