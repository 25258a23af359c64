//! Partial results for a file that is still being decoded.

use super::FileSummary;
use serde::{Deserialize, Serialize};

/// Partial results for a file that is being decoded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartialFile {
    /// Summary of the data decoded so far. Byte counts are estimates until the file is fully decoded, because the
    /// memory in use before the first event is not known earlier. `events` is the expected total, never less than the
    /// number decoded so far. `end_requested` refers to the last decoded event.
    pub summary: FileSummary,
    /// Additional data of each device, in the order of the summary.
    pub devices: Vec<PartialDevice>,
    /// True if the file is fully decoded, so that all numbers are final.
    pub is_complete: bool,
}

/// Partial results for one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartialDevice {
    /// Number of events decoded so far.
    pub events: u64,
    /// Each bin of the curves covers 2^`bin_bits` moments.
    pub bin_bits: u32,
    /// Maximum live requested bytes per bin.
    pub live: Vec<i64>,
    /// Maximum reserved bytes per bin.
    pub reserved: Vec<i64>,
}
