//! Trace, segments and annotation marks of one device.

use super::trace::Trace;

/// Data of one device in a file.
#[derive(Default)]
pub(super) struct Device {
    pub(super) ordinal: i64,
    /// Index of the device's trace in the recorder. `None` if the file has no trace for it.
    pub(super) number: Option<u32>,
    pub(super) trace: Trace,
    /// Rows of the device's segments in the snapshot's table.
    pub(super) segments: Vec<u32>,
    /// Rows of the device's annotation marks in the snapshot's table.
    pub(super) marks: Vec<u32>,
}
