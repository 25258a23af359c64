//! Rows of the five tables. Byte counts are requested bytes unless the name says otherwise.

use engine::OomRecord;
use std::sync::Arc;

/// Part of the key that all tables except `site` have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Key {
    /// Name of the batch that the file was surveyed in.
    pub batch: Arc<str>,
    /// Id of the snapshot: the first 16 digits of its SHA-256.
    pub snapshot: Arc<str>,
    /// Device ordinal; −1 is host memory. `None` if the file has no device, or could not be read.
    pub device: Option<i64>,
}

/// A stored file, as described by the list that is surveyed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object {
    pub url: Option<String>,
    pub version: Option<String>,
    /// Size in bytes, as stored.
    pub bytes: Option<i64>,
    /// µs since 1970.
    pub modified_us: Option<i64>,
    pub job: Option<String>,
    /// SHA-256 of the bytes as stored.
    pub sha256: Option<String>,
    /// Name of the snapshot in an archive with several.
    pub member: Option<String>,
    pub rank: Option<i64>,
    pub step: Option<i64>,
    pub host: Option<String>,
    /// Why the snapshot was saved.
    pub reason: Option<String>,
    /// `ok`, or why the file could not be read.
    pub status: String,
    pub error: Option<String>,
}

/// A device of a snapshot, or a file without devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotRow {
    pub key: Key,
    pub object: Object,
    /// Number of the job's restart, and commit of the program, as recorded.
    pub attempt: Option<i64>,
    pub git: Option<String>,
    pub torch: Option<String>,
    pub device_name: Option<String>,
    pub capacity_bytes: Option<i64>,
    pub events: Option<i64>,
    pub ooms: Option<i64>,
    pub base_bytes: Option<i64>,
    pub peak_bytes: Option<i64>,
    pub end_bytes: Option<i64>,
    pub peak_reserved_bytes: Option<i64>,
    pub end_reserved_bytes: Option<i64>,
    /// Reserved minus live bytes at the peak of the reserved bytes.
    pub idle_at_reserved_peak_bytes: Option<i64>,
    /// Value of `PYTORCH_CUDA_ALLOC_CONF`, and all settings as a JSON object with sorted keys.
    pub conf: Option<String>,
    pub settings: Option<String>,
    /// First finding about the newest OOM.
    pub verdict: Option<String>,
}

/// Memory of a call site in a device of a snapshot. The sums of `peak_bytes` equal the snapshot's `peak_bytes`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteUseRow {
    pub key: Key,
    /// Hash of the call site, or `rest` for the sum of all that have no row.
    pub site: String,
    /// Category with the most bytes at the peak.
    pub category: Option<String>,
    pub sums: SiteSums,
}

/// Sums over the allocations of a call site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteSums {
    pub peak_bytes: u64,
    pub peak_count: u64,
    /// Live at the newest OOM.
    pub oom_bytes: u64,
    /// Allocated while recording and never freed.
    pub kept_bytes: u64,
    pub total_bytes: u64,
    pub total_count: u64,
}

/// A call site. `site` is a hash with the line, `place` one without.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteRow {
    pub batch: Arc<str>,
    pub site: String,
    pub place: String,
    pub file: String,
    pub line: i64,
    pub function: String,
}

/// A failed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OomRow {
    pub key: Key,
    pub record: OomRecord,
    pub site: String,
    /// Hash of the place that made the request and of the places that held a tenth or more of the live bytes.
    pub signature: String,
    /// First findings about the newest OOM.
    pub verdict: Option<String>,
}

/// A training step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepRow {
    pub key: Key,
    pub step: i64,
    pub begin_us: Option<i64>,
    pub end_us: Option<i64>,
    pub peak_bytes: u64,
    pub end_bytes: i64,
    pub end_reserved_bytes: i64,
}

impl SiteSums {
    /// Adds other sums. Sums that are too large saturate.
    pub(super) fn add(&mut self, more: &SiteSums) {
        self.peak_bytes = self.peak_bytes.saturating_add(more.peak_bytes);
        self.peak_count = self.peak_count.saturating_add(more.peak_count);
        self.oom_bytes = self.oom_bytes.saturating_add(more.oom_bytes);
        self.kept_bytes = self.kept_bytes.saturating_add(more.kept_bytes);
        self.total_bytes = self.total_bytes.saturating_add(more.total_bytes);
        self.total_count = self.total_count.saturating_add(more.total_count);
    }

    /// Returns the largest of the sums that decide about the row's place in the list.
    pub(super) fn rank(&self) -> u64 {
        self.peak_bytes.max(self.oom_bytes).max(self.kept_bytes)
    }
}
