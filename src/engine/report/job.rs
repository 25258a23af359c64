//! What every topic of reports does: its report, in slices.

use crate::open::OpenFile;
use crate::protocol::Report;

/// A report that is being made.
pub(super) trait Job {
    /// Works while there is time; the report when it is done. Called no more after that. Where the file has no such device, the empty
    /// report of its topic.
    fn step(&mut self, file: &mut OpenFile, has_time: &mut dyn FnMut() -> bool) -> Option<Report>;
}
