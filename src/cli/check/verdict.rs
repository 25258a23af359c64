//! Result of checking snapshots, as plain data for the writers.

use super::baseline::Identity;
use compare::PerSide;
use protocol::Backend;
use std::collections::HashMap;

base::listed! {
    /// Property of a snapshot that is checked.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Property {
        Oom = "out_of_memory",
        ReservedPeak = "reserved_peak",
        LivePeak = "live_peak",
        LiveGrowth = "live_peak_growth",
        ReservedGrowth = "reserved_peak_growth",
    }
}

base::listed! {
    /// Outcome of a check.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Outcome {
        Kept = "kept",
        Exceeded = "exceeded",
        /// There is no baseline, or the file has no such figure.
        Skipped = "skipped",
    }
}

impl Outcome {
    pub(super) fn from_kept(is_kept: bool) -> Outcome {
        if is_kept { Outcome::Kept } else { Outcome::Exceeded }
    }
}

/// One check of one device.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) property: Property,
    pub(super) outcome: Outcome,
    /// Requirement, such as `reserved peak within 78.0 GiB`.
    pub(super) title: String,
    /// Figures behind the outcome.
    pub(super) detail: String,
    /// Measured value: bytes, or the number of OOMs.
    pub(super) value: u64,
    /// Largest value that is allowed.
    pub(super) limit: Option<u64>,
    /// Value of the baseline, in bytes.
    pub(super) baseline: Option<u64>,
}

/// Live bytes of a call site (or function, file, module) at the peak of the baseline and at the peak of the snapshot.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) name: String,
    pub(super) bytes: PerSide,
    pub(super) count: PerSide,
}

/// Result for one device of a snapshot.
#[derive(Clone, Debug)]
pub(super) struct CheckedDevice {
    /// Path or member name, for display.
    pub(super) file: String,
    pub(super) device: i64,
    pub(super) backend: Backend,
    pub(super) identity: Identity,
    /// Name of the baseline file.
    pub(super) baseline: Option<String>,
    pub(super) checks: Vec<Check>,
    /// Sites that grew by at least the noise, largest growth first.
    pub(super) grown: Vec<Site>,
    /// Live bytes of both peaks whose site also occurs in the other file, in parts per million. `None` without
    /// baseline.
    pub(super) matched: Option<u64>,
    pub(super) warnings: Vec<String>,
    pub(super) peak_reserved: u64,
    pub(super) peak_live: u64,
}

impl CheckedDevice {
    pub(super) fn is_exceeded(&self) -> bool {
        self.checks.iter().any(|check| check.outcome == Outcome::Exceeded)
    }

    /// Returns the file and the device, such as `a.pickle · GPU 0`.
    pub(super) fn title(&self) -> String {
        [&self.file, " · ", &self.backend.name_of(self.device)].concat()
    }
}

/// Result for all snapshots of a command.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdict {
    pub(super) devices: Vec<CheckedDevice>,
    /// File and error message of each file that cannot be read.
    pub(super) errors: Vec<(String, String)>,
    /// Number of checked devices that are not listed (`--ranks worst`).
    pub(super) left_out: usize,
    /// True if a limit is exceeded, also on a device that is not listed.
    pub(super) is_exceeded: bool,
}

impl Verdict {
    /// Keeps only the worst rank of each step and reason: one that exceeds a limit before one that does not, then the
    /// one with the highest reserved peak.
    pub(super) fn keep_worst(&mut self) {
        let rank = |it: &CheckedDevice| (it.is_exceeded(), it.peak_reserved, it.peak_live);
        let count = self.devices.len();
        let mut places = HashMap::new();
        let mut worst: Vec<CheckedDevice> = Vec::new();
        for device in self.devices.drain(..) {
            let place = *places.entry((device.identity.step, device.identity.reason)).or_insert(worst.len());
            match worst.get_mut(place) {
                Some(known) if rank(&device) > rank(known) => *known = device,
                Some(_) => {}
                None => worst.push(device),
            }
        }
        self.left_out = count - worst.len();
        self.devices = worst;
    }

    /// Returns one sentence about all files.
    pub(super) fn headline(&self) -> String {
        let device = self.devices.first().map(|it| it.backend).unwrap_or_default().device();
        let result = match (self.is_exceeded, self.errors.is_empty()) {
            (true, _) => " memory exceeds its limits",
            (false, true) => " memory is within its limits",
            (false, false) => " memory could not be checked",
        };
        [device, result].concat()
    }
}
