//! What is known of a file that is still being decoded.

use serde::{Deserialize, Serialize};

/// What is decoded of a file so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartialFile {
    /// The devices whose events were met so far, by ordinal; host memory (−1) last.
    pub devices: Vec<PartialDevice>,
    /// Whether all is decoded: these are then the numbers of the file.
    pub is_whole: bool,
}

/// The numbers of one device so far, as [`DeviceSummary`](super::DeviceSummary) defines them. What was live before the first event is an estimate
/// until all is decoded, and with it every number of bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartialDevice {
    pub device: i64,
    /// Events so far.
    pub events: u64,
    /// Events in all: an estimate, and never fewer than there are.
    pub expected_events: u64,
    pub allocations: u64,
    pub base_requested: i64,
    /// Requested bytes that are live after the last event so far.
    pub live: i64,
    pub peak_requested: i64,
    pub peak_event: i64,
    pub reserved_start: i64,
    pub peak_reserved: i64,
    /// How often it ran out of memory.
    pub ooms: u64,
    /// Each height is of 2 to the power of this many moments.
    pub bin_bits: u32,
    /// The most requested bytes of each so many moments, and the most reserved ones; empty where they are as they were told before.
    pub heights: [Vec<i64>; 2],
}
