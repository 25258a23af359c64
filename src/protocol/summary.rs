//! Summary of a file and its devices.

use super::{Backend, PoolName};
use base::units::Moment;
use serde::{Deserialize, Serialize, Serializer};

/// Version of the command line's JSON schema. It is incremented when a field changes its name or meaning.
pub const SCHEMA: u32 = 2;

/// Summary of a file. It is also the JSON output of the command line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileSummary {
    pub schema: u32,
    pub file: String,
    /// File format, from the outermost layer to the innermost, such as `gzip, pickle 4 (Python)`.
    pub format: String,
    /// PyTorch version that saved the file, such as `2.11 or later`. It is guessed from the keys in the file.
    pub torch: Option<String>,
    pub warnings: Vec<Warning>,
    /// Devices that have events or segments, sorted by ordinal. Host memory (−1) comes last.
    pub devices: Vec<DeviceSummary>,
    /// Entries of `allocator_settings`, as dotted keys and text values.
    pub settings: Vec<(String, String)>,
    /// Names of the private pools.
    pub pools: Vec<PoolName>,
    /// Facts about the process that a recorder stored, as dotted keys and text values. They are an object in JSON.
    #[serde(serialize_with = "as_object")]
    pub recorder: Vec<(String, String)>,
}

impl FileSummary {
    /// Returns the index of the device to show first: a device that ran out of memory, or otherwise the GPU with the
    /// highest peak. An empty device or host memory is only returned if there is no other device.
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

/// Anomaly in a file that does not prevent the file from being opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// Stable identifier of the kind of anomaly, such as `unknown_key`.
    pub kind: String,
    pub message: String,
    pub count: u64,
    /// Path of the first occurrence in the file, such as `device_traces[0][17].color`.
    pub example: String,
}

/// Key figures of one device, as defined in `tools/reference.py`. Byte counts are requested bytes unless the name says
/// otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceSummary {
    /// Device ordinal. −1 is host (pinned) memory.
    pub device: i64,
    /// Kind of the devices of the file.
    pub backend: Backend,
    pub events: u64,
    /// Only set if a range of the trace is loaded: index of the first event of the range, and number of events in the
    /// file after the range. `events` counts the events up to the end of the range.
    pub loaded: Option<(u32, u64)>,
    /// Number of events of each action that occurs. This is an object in JSON.
    #[serde(serialize_with = "as_object")]
    pub actions: Vec<(String, u64)>,
    /// Number of allocations. It includes allocations made before recording, if they are freed in the trace or live at
    /// its end.
    pub allocations: u64,
    /// Requested bytes that are live before the first event.
    pub base_requested: i64,
    pub peak_requested: i64,
    /// Index of the first event after which the peak is reached. −1 if the peak is reached before the first event.
    pub peak_event: i64,
    pub min_requested: i64,
    /// Mean of live bytes over all moments, including the moment before the first event.
    pub mean_requested: f64,
    /// Median of live bytes over all moments. The lower value is used if there are two.
    pub median_requested: i64,
    /// Mean of live bytes, weighted by time. `None` if the events have no `time_us`.
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
    /// Bytes that are live before the first event but belong to no recorded block.
    pub unexplained_requested: u64,
    /// Reserved bytes before the first event.
    pub reserved_start: i64,
    pub reserved_end: u64,
    pub peak_reserved: i64,
    pub segments: u64,
    /// Number of `external_annotations` of the device.
    pub annotations: u64,
    /// First and last `time_us` in the trace, if recorded.
    pub time_us: Option<(i64, i64)>,
    /// Height of the stacked plot in bytes. It equals `peak_requested` unless the file is inconsistent and has
    /// overlapping blocks, which causes a warning.
    pub drawn_peak: u64,
    /// Facts about the device that a recorder stored when the snapshot was saved. The keys are the constants below.
    /// They are an object in JSON.
    #[serde(serialize_with = "as_object")]
    pub recorder: Vec<(String, u64)>,
}

/// Recorder key for the total memory of the GPU, in bytes.
pub const CAPACITY: &str = "capacity_bytes";
/// Recorder key for the free device memory that the driver reports, in bytes.
pub const DEVICE_FREE: &str = "device_free_bytes";
/// Recorder key for the device memory of this process that NVML reports, in bytes.
pub const PROCESS: &str = "process_bytes";
/// Recorder key for the device memory of this process outside the allocator, such as the CUDA context, NCCL and other
/// libraries.
pub const OUTSIDE_ALLOCATOR: &str = "outside_allocator_bytes";
/// Recorder key for the device memory outside the allocator, if NVML reported nothing: of this process or of others.
pub const OUTSIDE_OR_OTHERS: &str = "outside_or_other_processes_bytes";
/// Recorder key for the reserved bytes that were paused when the snapshot was saved, and so not on the GPU.
pub const PAUSED: &str = "paused_bytes";
/// Recorder key for the maximum of the reserved bytes that were paused at the same time.
pub const PEAK_PAUSED: &str = "peak_paused_bytes";
/// Recorder keys for the maxima of the samples in the trace: device memory outside the allocator (of this process or of
/// others), and resident and pinned memory of the process.
pub const SAMPLED_PEAKS: [&str; 3] = ["peak_sampled_outside_bytes", "peak_resident_bytes", "peak_pinned_bytes"];
/// Recorder key for the device memory of all other processes that NVML reports, in bytes.
pub const OTHER_PROCESSES: &str = "other_processes_bytes";
/// Recorder key for `requested_bytes.all.peak` of `memory_stats()`. Cropped traces do not have this value, because a
/// range may have a different peak.
pub const COUNTED_PEAK: &str = "memory_stats_peak_bytes";
/// Recorder key for the number of tensors that the recorder listed.
pub const TENSORS: &str = "tensors";
/// Recorder key for the number of listed tensors that lie in allocations that are live at the end of the trace.
pub const TENSORS_FOUND: &str = "tensors_found";

/// Result of comparing the peak of the trace with PyTorch's own counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeakCheck {
    /// Both peaks are equal to the byte.
    Equal,
    /// PyTorch's peak is higher, so it was reached before the first recorded event.
    Earlier,
    /// PyTorch's peak is lower, so its counters were reset.
    Reset,
}

fn as_object<S: Serializer, V: Serialize>(pairs: &[(String, V)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, count)| (name, count)))
}

impl DeviceSummary {
    /// Returns the first moment with the peak of live bytes.
    pub fn peak_moment(&self) -> Moment {
        Moment::after_event_or_minus_one(self.peak_event)
    }

    /// Returns the value that the recorder stored under a key, such as [`CAPACITY`].
    pub fn recorder_value(&self, key: &str) -> Option<u64> {
        self.recorder.iter().find(|(known, _)| known == key).map(|(_, number)| *number)
    }

    /// Returns the GPU memory that the allocator can reserve, which is the total minus memory in use elsewhere. `None`
    /// if the recorder did not store the total.
    pub fn available_bytes(&self) -> Option<u64> {
        let outside = [OUTSIDE_ALLOCATOR, OTHER_PROCESSES, OUTSIDE_OR_OTHERS];
        let outside = outside.into_iter().filter_map(|key| self.recorder_value(key)).fold(0, u64::saturating_add);
        Some(self.recorder_value(CAPACITY)?.saturating_sub(outside))
    }

    /// Compares the peak with PyTorch's counter. `None` if no recorder stored the counter.
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

    /// Returns whether the file records reserved bytes. False if it has requested bytes but no segments, because such a
    /// file is incomplete.
    pub fn has_reserved(&self) -> bool {
        self.peak_reserved > 0 || self.peak_requested <= 0
    }

    /// Returns whether the file records the rounded sizes of the blocks that are live at the end.
    pub fn has_rounded(&self) -> bool {
        self.end_rounded > 0 || self.end_requested == 0
    }
}
