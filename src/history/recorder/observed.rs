//! Observations of the recorder about the process: Python objects that hold tensors, memory that is paused, and samples
//! of memory that the allocator does not know.

/// Observations of the recorder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// Sorted by device and address.
    pub holders: Vec<Holder>,
    pub paused: Vec<Paused>,
    /// In the order of the file, which is by time.
    pub samples: Vec<Sample>,
    /// Times (µs since 1970) and positions in the tree of descriptions, such as "process group tp".
    pub(super) sample_events: Vec<(i64, u32)>,
}

/// The object that holds a tensor in memory, at the time when the snapshot was saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    pub device: i64,
    /// Address of the tensor's storage.
    pub address: u64,
    // Positions in the tree. 0 if missing.
    pub(super) root: u32,
    pub(super) path: u32,
    pub(super) node: u32,
    pub(super) saved_as: u32,
    pub(super) cycle: u32,
}

/// Memory that is reserved, but not on the GPU (torch_memory_saver, vLLM's sleep mode).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paused {
    /// Device ordinal, if recorded.
    pub(super) device: Option<i64>,
    /// An address in the memory, if recorded.
    pub(super) address: Option<u64>,
    /// Start and end of the pause in µs since 1970. `None` as end: paused when the snapshot was saved.
    pub(super) begin_us: i64,
    pub(super) end_us: Option<i64>,
    pub(super) bytes: u64,
}

/// Paused bytes over time: the times of changes in µs since 1970, ascending, and the bytes from then on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PausedBytes(pub(super) Vec<(i64, u64)>);

impl PausedBytes {
    /// Returns the paused bytes at a time in µs since 1970.
    pub fn at(&self, us: i64) -> u64 {
        let place = self.0.partition_point(|(change, _)| *change <= us);
        place.checked_sub(1).and_then(|place| self.0.get(place)).map_or(0, |(_, bytes)| *bytes)
    }

    /// Returns the paused bytes when the snapshot was saved.
    pub fn at_end(&self) -> u64 {
        self.0.last().map_or(0, |(_, bytes)| *bytes)
    }

    /// Returns the maximum of the paused bytes.
    pub fn peak(&self) -> u64 {
        self.changes().map(|(_, bytes)| bytes).max().unwrap_or(0)
    }

    /// Iterates over the times of changes in µs since 1970, ascending, and the bytes from then on.
    pub fn changes(&self) -> impl Iterator<Item = (i64, u64)> + '_ {
        self.0.iter().copied()
    }
}

/// Memory at one time, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    pub device: i64,
    /// In µs since 1970.
    pub time_us: i64,
    /// Free device memory that the driver reports.
    pub free: Option<u64>,
    pub reserved: Option<u64>,
    pub live: Option<u64>,
    /// Resident, shared and pinned memory of the process.
    pub resident: Option<u64>,
    pub shared: Option<u64>,
    pub pinned: Option<u64>,
}
