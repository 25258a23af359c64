//! A trace, and which segments and annotation marks are of its device.

use super::trace::Trace;

/// What the file has of one device.
#[derive(Default)]
pub(super) struct Device {
    pub(super) ordinal: i64,
    /// The number that the recorder knows its trace by.
    pub(super) number: Option<u32>,
    pub(super) trace: Trace,
    /// Its segments, as rows of the snapshot's table.
    pub(super) segments: Vec<u32>,
    /// Its annotation marks, as rows of the snapshot's table.
    pub(super) marks: Vec<u32>,
}
