//! Trace, segments and annotation marks of one device.

use super::trace::Trace;

/// Contents of a file for one device.
#[derive(Default)]
pub(super) struct Device {
    pub(super) ordinal: i64,
    /// Number of its trace in the recorder.
    pub(super) number: Option<u32>,
    pub(super) trace: Trace,
    /// Its segments, as rows of the snapshot's table.
    pub(super) segments: Vec<u32>,
    /// Its annotation marks, as rows of the snapshot's table.
    pub(super) marks: Vec<u32>,
}
