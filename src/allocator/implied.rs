//! Memory limits that a recording implies. Each attempt to get memory, successful or not, narrows their bounds.

use super::settings::{Limits, Settings, Share};

/// Sentinel: unknown number of bytes, e.g. because no attempt failed.
const NONE: u64 = u64::MAX;

/// Bounds of a number of bytes: inclusive minimum, exclusive maximum. `u64::MAX` if the maximum is unknown.
pub type Bounds = [u64; 2];

/// Bounds of the memory limits, inferred from all attempts to get memory from the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempts {
    /// Bounds of the memory that the driver can provide. Mapping pages beyond it fails.
    driver: Bounds,
    /// Bounds of the memory fraction, in bytes. Allocating a segment beyond it fails.
    fraction: Bounds,
    /// Bounds of the reserved bytes above which garbage is collected.
    threshold: Bounds,
    /// Last attempt of the current request: reserved bytes at that time, and requested bytes.
    last: Option<(u64, u64)>,
    /// Exact memory of the driver, if a failed request reveals it.
    exact: Option<u64>,
}

impl Default for Attempts {
    fn default() -> Attempts {
        let unknown = [0, NONE];
        Attempts { driver: unknown, fraction: unknown, threshold: unknown, last: None, exact: None }
    }
}

impl Attempts {
    /// Creates bounds from the number of bytes that are reserved before the first event.
    pub(crate) fn new(reserved: u64) -> Attempts {
        Attempts { driver: [reserved, NONE], fraction: [reserved, NONE], ..Attempts::default() }
    }

    /// Records an attempt to get `size` bytes for a segment of `segment` bytes. `size` is 0 if all pages are already
    /// mapped. Such an attempt fails only because of a memory fraction.
    pub(crate) fn add(&mut self, reserved: u64, size: u64, segment: u64, is_granted: bool) {
        let (pages, all) = (reserved.saturating_add(size), reserved.saturating_add(segment));
        if is_granted {
            self.driver[0] = self.driver[0].max(pages);
            self.fraction[0] = self.fraction[0].max(all);
        } else {
            self.driver[1] = if size > 0 { self.driver[1].min(pages) } else { 0 };
            self.fraction[1] = self.fraction[1].min(all);
        }
        self.last = Some((reserved, size));
    }

    pub(crate) fn begin(&mut self) {
        self.last = None;
    }

    /// Records that the current request failed while the driver reported `device_free` bytes of free memory.
    pub(crate) fn fail(&mut self, device_free: u64) {
        // With more free memory than was asked for, it was a fraction that refused.
        if let Some((reserved, _)) = self.last.filter(|(_, size)| *size > device_free) {
            self.exact = Some(reserved.saturating_add(device_free));
        }
    }

    /// Records that garbage was collected while `left` bytes were reserved.
    pub(crate) fn collected(&mut self, left: u64) {
        self.threshold[1] = self.threshold[1].min(left);
    }

    /// Records that garbage collection stopped at `left` reserved bytes, although more garbage was available.
    pub(crate) fn not_collected(&mut self, left: u64) {
        self.threshold[0] = self.threshold[0].max(left);
    }

    /// Returns the memory limit under these settings that is implied by all recorded attempts to get memory from the
    /// driver.
    pub(crate) fn implied(&self, settings: &Settings) -> Implied {
        let Attempts { driver, mut fraction, threshold, exact, .. } = *self;
        let names_fraction = settings.fraction < Share::ALL;
        let collected = settings.collects() && threshold[1] < NONE;
        if settings.collects() {
            // The threshold is a share of what the fraction allows.
            fraction[0] = fraction[0].max(settings.collect_above.inverse(threshold[0]));
        }
        if collected {
            let above = settings.collect_above.inverse(threshold[1]).saturating_add(2);
            fraction[1] = fraction[1].min(above);
        }
        let is_contradictory = driver[1] <= driver[0] && fraction[0] < fraction[1];
        let is_fraction = names_fraction || collected || is_contradictory;
        let bounds = match (is_fraction, exact) {
            (true, _) => fraction,
            (false, Some(exact)) => [exact, exact.saturating_add(1)],
            (false, None) => driver,
        };
        Implied { bounds, is_fraction, threshold }
    }
}

/// Memory limit that a recording implies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Implied {
    /// Bounds of the limit. The maximum is `u64::MAX` if no attempt failed. If the minimum exceeds the maximum, the
    /// attempts contradict each other, because other processes used the device as well.
    pub bounds: Bounds,
    /// True if the limit is a memory fraction, false if it is the memory that the driver provides.
    pub is_fraction: bool,
    /// Bounds of the reserved bytes above which garbage was collected.
    pub threshold: Bounds,
}

impl Default for Implied {
    fn default() -> Implied {
        Implied { bounds: [0, NONE], is_fraction: false, threshold: [0, NONE] }
    }
}

impl Implied {
    /// Returns the lowest and the highest limit consistent with the recording, or `None` if no attempt failed.
    pub fn limit(&self) -> Option<[u64; 2]> {
        let [low, high] = self.bounds;
        (high < NONE && low < high).then(|| [low, high - 1])
    }

    /// Returns true if no single limit is consistent with all failed attempts.
    pub fn is_contradictory(&self) -> bool {
        self.bounds[1] <= self.bounds[0]
    }

    /// Returns the limits of a process that may reserve `limit` bytes.
    pub(crate) fn limits(&self, limit: Option<u64>, settings: &Settings) -> Limits {
        let mut limits = match self.is_fraction {
            true => Limits::allowing(limit, settings),
            false => Limits { capacity: limit, ..Limits::default() },
        };
        let [low, high] = self.threshold;
        if settings.collects() && low < high && high < NONE {
            limits.collect_above = Some(limits.collect_above.unwrap_or(u64::MAX).clamp(low, high - 1));
        }
        limits
    }

    /// Returns the lowest and the highest device memory, in bytes, consistent with the recording. `None` unless the
    /// recorded settings contain a memory fraction.
    pub fn total(&self, settings: &Settings) -> Option<[u64; 2]> {
        let [low, high] = self.limit().filter(|_| self.is_fraction && settings.fraction < Share::ALL)?;
        Some([settings.fraction.inverse(low).saturating_add(1), settings.fraction.inverse(high)])
    }
}

#[cfg(test)]
#[path = "../../tests/units/allocator/implied.rs"]
mod tests;
