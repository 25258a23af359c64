//! What is known of a file that is still being decoded.

use super::FileSummary;
use serde::{Deserialize, Serialize};

/// What is decoded of a file so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartialFile {
    /// The numbers so far, where they are known. What was live or reserved before the first event is an estimate until all is decoded, and with it
    /// every number of bytes; so are `events`: those that are expected in all, never fewer than there are. `end_requested` is what is
    /// live after the last event so far.
    pub summary: FileSummary,
    /// What else there is of each device, in the same order.
    pub devices: Vec<PartialDevice>,
    /// Whether all is decoded: these are then the numbers of the file.
    pub is_whole: bool,
}

/// One device so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartialDevice {
    /// Events so far.
    pub events: u64,
    /// Each height is of 2 to the power of this many moments.
    pub bin_bits: u32,
    /// The most requested bytes of each so many moments.
    pub live: Vec<i64>,
    /// The most reserved ones.
    pub reserved: Vec<i64>,
}
