//! What every topic of reports does: its report, in slices.

use super::known::Known;
use crate::open::OpenFile;
use crate::protocol::Report;
use base::slice::{Slice, Sliced};

/// A report that is being made.
pub(crate) trait Job {
    /// The report when it is done. Called no more after that. Where the file has no such device, the empty
    /// report of its topic.
    ///
    /// # Errors
    /// The time is up.
    fn step(&mut self, file: &mut OpenFile, slice: &mut Slice) -> Sliced<Report>;

    /// Where it keeps what other reports on its device need as well.
    fn known(&mut self) -> Option<&mut Known> {
        None
    }
}
