//! Summary of a file and its devices.

use super::PoolName;
use serde::{Deserialize, Serialize, Serializer};

/// Version of the command line's JSON schema. Incremented if a field changes its name or meaning.
pub const SCHEMA: u32 = 2;

/// Summary of a file. Also the JSON output of the command line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileSummary {
    pub schema: u32,
    pub file: String,
    /// File format, outermost layer first, such as `gzip, pickle 4 (Python)`.
    pub format: String,
    /// PyTorch version, guessed from the keys in the file, such as `2.11 or later`.
    pub torch: Option<String>,
    pub warnings: Vec<Warning>,
    /// Devices with events or segments, by ordinal. Host memory (−1) comes last.
    pub devices: Vec<DeviceSummary>,
    /// `allocator_settings` as dotted keys and text values.
    pub settings: Vec<(String, String)>,
    /// Names of private pools.
    pub pools: Vec<PoolName>,
    /// Process data from the recorder, as dotted keys and text values. An object in JSON.
    #[serde(serialize_with = "as_object")]
    pub recorder: Vec<(String, String)>,
}

impl FileSummary {
    /// Returns the index of the device to show first: one that ran out of memory, or else the GPU with the highest
    /// peak. An empty device or host memory is only chosen if there is nothing else.
    pub fn default_device(&self) -> usize {
        let rank = |device: &DeviceSummary| {
            let is_empty = device.drawn_peak == 0 && device.peak_reserved <= 0;
            (device.oom_count() > 0, !is_empty, device.device >= 0, device.drawn_peak, device.peak_reserved)
        };
        // The first of equal devices wins.
        let indices = (0..self.devices.len()).rev();
        indices.max_by_key(|&index| self.devices.get(index).map(rank)).unwrap_or(0)
    }
}

/// Anomaly in a file that does not prevent opening it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// Stable name, such as `unknown_key`.
    pub kind: String,
    pub message: String,
    pub count: u64,
    /// Path of the first occurrence, such as `device_traces[0][17].color`.
    pub example: String,
}

/// Key figures of one device, defined as in `tools/reference.py`. Byte counts are requested bytes unless the name
/// says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceSummary {
    /// Device ordinal. −1 is host (pinned) memory.
    pub device: i64,
    pub events: u64,
    /// If only a range of the trace is loaded: index of its first event, and number of events in the file after the
    /// range. The range's last event is the last one counted in `events`.
    pub loaded: Option<(u32, u64)>,
    /// Number of events of each action that occurs. An object in JSON.
    #[serde(serialize_with = "as_object")]
    pub actions: Vec<(String, u64)>,
    /// Number of allocations: made in the trace, made before recording and freed in the trace, or live at the end
    /// without any event.
    pub allocations: u64,
    /// Requested bytes live before the first event.
    pub base_requested: i64,
    pub peak_requested: i64,
    /// First event after which the peak is reached. −1 if it is reached before the first event.
    pub peak_event: i64,
    pub min_requested: i64,
    /// Mean over all moments, including the one before the first event.
    pub mean_requested: f64,
    /// Median over all moments, the lower one of two.
    pub median_requested: i64,
    /// Mean weighted by time. `None` without `time_us`.
    pub time_weighted_mean_requested: Option<f64>,
    pub end_requested: u64,
    /// Rounded bytes of the blocks that are live at the end.
    pub end_rounded: u64,
    /// Number of frees of blocks that were allocated before recording.
    pub unmatched_frees: u64,
    pub unmatched_free_bytes: u64,
    /// Number of blocks that are live at the end and have no event in the trace.
    pub static_blocks: u64,
    pub static_requested: u64,
    pub identity: bool,
    /// Bytes live before the trace that no block explains: the remainder of the identity, if positive.
    pub unexplained_requested: u64,
    /// Reserved bytes before the first event.
    pub reserved_start: i64,
    pub reserved_end: u64,
    pub peak_reserved: i64,
    pub segments: u64,
    /// Number of `external_annotations` of the device.
    pub annotations: u64,
    /// First and last `time_us`, if recorded.
    pub time_us: Option<(i64, i64)>,
    /// Height of the drawn stack. Equal to `peak_requested`, unless an inconsistent file has overlapping blocks,
    /// which causes a warning.
    pub drawn_peak: u64,
    /// Device data from the recorder at the time of the snapshot, with the keys below. An object in JSON.
    #[serde(serialize_with = "as_object")]
    pub recorder: Vec<(String, u64)>,
}

/// Recorder key for the total memory of the GPU.
pub const CAPACITY: &str = "capacity_bytes";
/// Recorder key for the free device memory, as reported by the driver.
pub const DEVICE_FREE: &str = "device_free_bytes";
/// Recorder key for the memory of this process, as reported by NVML.
pub const PROCESS: &str = "process_bytes";
/// Recorder key for the memory of this process outside the allocator: CUDA context, NCCL and other libraries.
pub const OUTSIDE_ALLOCATOR: &str = "outside_allocator_bytes";
/// Recorder key for the memory of all other processes, as reported by NVML.
pub const OTHER_PROCESSES: &str = "other_processes_bytes";
/// Recorder key for `requested_bytes.all.peak` of `memory_stats()`. Cropped traces have no such value, because their
/// peak is a different one.
pub const COUNTED_PEAK: &str = "memory_stats_peak_bytes";
/// Recorder key for the number of tensors that the recorder named.
pub const TENSORS: &str = "tensors";
/// Recorder key for the number of named tensors found among the allocations that are live at the end.
pub const TENSORS_FOUND: &str = "tensors_found";

/// Comparison of the peak of the trace with PyTorch's own counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeakCheck {
    /// Equal to the byte.
    Equal,
    /// PyTorch's peak is higher: it was before the first recorded event.
    Earlier,
    /// PyTorch's peak is lower: its counters were reset.
    Reset,
}

fn as_object<S: Serializer, V: Serialize>(pairs: &[(String, V)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, count)| (name, count)))
}

impl DeviceSummary {
    /// Returns the value that the recorder stored under a key, such as [`CAPACITY`].
    #[inline(never)]
    pub fn recorder_value(&self, key: &str) -> Option<u64> {
        self.recorder.iter().find(|(known, _)| known == key).map(|(_, number)| *number)
    }

    /// Returns the part of the GPU's memory that the allocator can reserve, without the memory in use elsewhere.
    /// `None` if the recorder did not store the total.
    pub fn available_bytes(&self) -> Option<u64> {
        let outside = self
            .recorder_value(OUTSIDE_ALLOCATOR)
            .unwrap_or(0)
            .saturating_add(self.recorder_value(OTHER_PROCESSES).unwrap_or(0));
        Some(self.recorder_value(CAPACITY)?.saturating_sub(outside))
    }

    /// Compares the peak with PyTorch's counter. `None` if the recorder did not store it.
    pub fn peak_check(&self) -> Option<PeakCheck> {
        let peak = u64::try_from(self.peak_requested).unwrap_or(0);
        self.recorder_value(COUNTED_PEAK).map(|counted| match counted {
            _ if counted == peak => PeakCheck::Equal,
            _ if counted > peak => PeakCheck::Earlier,
            _ => PeakCheck::Reset,
        })
    }

    /// Returns the number of out-of-memory events.
    pub fn oom_count(&self) -> u64 {
        self.actions.iter().find(|(action, _)| action == "oom").map_or(0, |(_, count)| *count)
    }

    /// Returns whether the file has reserved bytes. Requested bytes are always in segments, so a file with requested
    /// bytes but no segments is incomplete.
    pub fn has_reserved(&self) -> bool {
        self.peak_reserved > 0 || self.peak_requested <= 0
    }

    /// Returns whether the file has rounded sizes for the blocks that are live at the end.
    pub fn has_rounded(&self) -> bool {
        self.end_rounded > 0 || self.end_requested == 0
    }
}
