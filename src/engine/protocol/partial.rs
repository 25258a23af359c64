//! Partial results for a file that is still being decoded.

use super::FileSummary;
use serde::{Deserialize, Serialize};

/// State of a file that is being decoded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartialFile {
    /// Summary so far. Until the file is fully decoded, the memory in use before the first event is an estimate, and
    /// so are all byte counts. `events` is the expected total, never less than the number decoded so far.
    /// `end_requested` refers to the last decoded event.
    pub summary: FileSummary,
    /// Further data of each device, in the order of the summary.
    pub devices: Vec<PartialDevice>,
    /// Set when the file is fully decoded and the numbers are final.
    pub is_complete: bool,
}

/// State of one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartialDevice {
    /// Number of events decoded so far.
    pub events: u64,
    /// Binary logarithm of the number of moments per bin.
    pub bin_bits: u32,
    /// Maximum live requested bytes per bin.
    pub live: Vec<i64>,
    /// Maximum reserved bytes per bin.
    pub reserved: Vec<i64>,
}
