//! What the summary says of a file and its devices.

use super::PoolName;
use serde::{Deserialize, Serialize, Serializer};

/// The `schema` of the command line's JSON: raised when a field changes its name or its meaning.
pub const SCHEMA: u32 = 2;

/// What the summary says of a file; also the command line's JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileSummary {
    /// [`SCHEMA`].
    pub schema: u32,
    pub file: String,
    /// How it is written, outermost first: `gzip, pickle 4 (Python)`.
    pub format: String,
    /// Which PyTorch wrote it, guessed from the keys it uses: `2.11 or later`.
    pub torch: Option<String>,
    pub warnings: Vec<Warning>,
    /// The devices that have events or segments, by ordinal; host memory (−1) last.
    pub devices: Vec<DeviceSummary>,
    /// `allocator_settings` as the file has it: dotted key, value as text.
    pub settings: Vec<(String, String)>,
    /// What private pools are called.
    pub pools: Vec<PoolName>,
    /// What a recorder says of the process: dotted key, value as text; an object in JSON.
    #[serde(serialize_with = "as_object")]
    pub recorder: Vec<(String, String)>,
}

impl FileSummary {
    /// The place of the device to show first: the one that ran out of memory, or else the GPU with the highest peak. An empty device
    /// or host memory only where there is nothing else.
    pub fn default_device(&self) -> usize {
        let rank = |device: &DeviceSummary| {
            let is_empty = device.drawn_peak == 0 && device.peak_reserved <= 0;
            (device.ooms() > 0, !is_empty, device.device >= 0, device.drawn_peak, device.peak_reserved)
        };
        // Of equal ones the first.
        let places = (0..self.devices.len()).rev();
        places.max_by_key(|&place| self.devices.get(place).map(rank)).unwrap_or(0)
    }
}

/// Something odd that does not stop us.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// A stable name: `unknown_key`.
    pub kind: String,
    pub message: String,
    pub count: u64,
    /// Where, the first time: `device_traces[0][17].color`.
    pub example: String,
}

/// The numbers of one device, named and defined as in `tools/reference.py`. Bytes; requested unless the name says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceSummary {
    /// Its ordinal; −1 is host (pinned) memory.
    pub device: i64,
    pub events: u64,
    /// Where only a range of the trace is loaded: the number of its first event, and how many events of the file come behind its last,
    /// which is the last of `events`.
    pub loaded: Option<(u32, u64)>,
    /// How many of each action that there is; an object in JSON.
    #[serde(serialize_with = "as_object")]
    pub actions: Vec<(String, u64)>,
    /// Allocations in the trace, freed in it but allocated before recording, and live at the end without an event.
    pub allocations: u64,
    /// Requested bytes live before the first event.
    pub base_requested: i64,
    pub peak_requested: i64,
    /// The first event after which the peak holds; −1 when it holds before the first.
    pub peak_event: i64,
    pub min_requested: i64,
    /// Mean over all states, the one before the first event included.
    pub mean_requested: f64,
    /// Median over the same states (the lower one of two).
    pub median_requested: i64,
    /// Mean weighted by how long each state held; `None` without `time_us`.
    pub time_weighted_mean_requested: Option<f64>,
    pub end_requested: u64,
    /// The same blocks as the allocator rounded them.
    pub end_rounded: u64,
    /// Frees of blocks that were allocated before recording.
    pub unmatched_frees: u64,
    /// Their bytes.
    pub unmatched_free_bytes: u64,
    /// Blocks live at the end that the trace does not know.
    pub static_blocks: u64,
    /// Their bytes.
    pub static_requested: u64,
    pub identity: bool,
    /// Bytes live before the trace that nothing explains (the identity's remainder, when positive).
    pub unexplained_requested: u64,
    /// Reserved before the first event.
    pub reserved_start: i64,
    pub reserved_end: u64,
    /// The largest number of reserved bytes.
    pub peak_reserved: i64,
    pub segments: u64,
    /// `external_annotations` of this device.
    pub annotations: u64,
    /// First and last `time_us`, where recorded.
    pub time_us: Option<(i64, i64)>,
    /// The highest stack that is drawn: `peak_requested`, unless a broken file makes blocks overlap (then it is warned about).
    pub drawn_peak: u64,
    /// What a recorder says of the device, when the snapshot was saved, by these keys; an object in JSON.
    #[serde(serialize_with = "as_object")]
    pub recorder: Vec<(String, u64)>,
}

/// The GPU's memory.
pub const CAPACITY: &str = "capacity_bytes";
/// What the driver said was free.
pub const DEVICE_FREE: &str = "device_free_bytes";
/// What NVML said this process used.
pub const PROCESS: &str = "process_bytes";
/// What this process used beyond what was reserved: CUDA context, NCCL, libraries.
pub const OUTSIDE: &str = "outside_allocator_bytes";
/// What NVML said all other processes used.
pub const OTHER_PROCESSES: &str = "other_processes_bytes";
/// `requested_bytes.all.peak` of `memory_stats()`; not of a part of a trace, which has a peak of its own.
pub const COUNTED_PEAK: &str = "memory_stats_peak_bytes";
/// How many tensors the recorder names.
pub const TENSORS: &str = "tensors";
/// How many of them are among the allocations that are live at the end.
pub const TENSORS_FOUND: &str = "tensors_found";

/// Whether the peak of the trace is the one that PyTorch counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeakCheck {
    /// To the byte.
    Equal,
    /// PyTorch's is higher: it was before the first recorded event.
    Earlier,
    /// PyTorch's is lower: its counters were reset.
    Reset,
}

fn as_object<S: Serializer, V: Serialize>(pairs: &[(String, V)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, count)| (name, count)))
}

impl DeviceSummary {
    /// A number that a recorder says of it.
    #[inline(never)]
    pub fn recorded(&self, key: &str) -> Option<u64> {
        self.recorder.iter().find(|(known, _)| known == key).map(|(_, number)| *number)
    }

    /// What of the GPU's memory the allocator can reserve, as a recorder says: without what is in use outside of it.
    pub fn available_bytes(&self) -> Option<u64> {
        let outside = self.recorded(OUTSIDE).unwrap_or(0).saturating_add(self.recorded(OTHER_PROCESSES).unwrap_or(0));
        Some(self.recorded(CAPACITY)?.saturating_sub(outside))
    }

    /// Whether its peak is the one that PyTorch counted, where a recorder says that.
    pub fn peak_check(&self) -> Option<PeakCheck> {
        let peak = u64::try_from(self.peak_requested).unwrap_or(0);
        self.recorded(COUNTED_PEAK).map(|counted| match counted {
            _ if counted == peak => PeakCheck::Equal,
            _ if counted > peak => PeakCheck::Earlier,
            _ => PeakCheck::Reset,
        })
    }

    /// How often it ran out of memory.
    pub fn ooms(&self) -> u64 {
        self.actions.iter().find(|(action, _)| action == "oom").map_or(0, |(_, count)| *count)
    }

    /// Whether the file tells what was reserved. Bytes that are requested lie in segments: without any, it has left them out.
    pub fn knows_reserved(&self) -> bool {
        self.peak_reserved > 0 || self.peak_requested <= 0
    }

    /// Whether the file tells how the blocks at the end were rounded: it does where it has them.
    pub fn knows_rounded(&self) -> bool {
        self.end_rounded > 0 || self.end_requested == 0
    }
}
