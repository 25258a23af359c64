//! Results that several reports share, computed once per device: steps and growing call sites.

use super::leaks::Growth;
use super::steps::Finding;
use crate::open::OpenFile;
use base::slice::{Slice, Sliced};
use history::replay::DeviceHistory;

/// Shared results for a device.
pub(super) struct Known {
    pub(super) device: i64,
    pub(super) steps: Finding,
    /// `None` until a report needs it.
    growth: Option<Growth>,
}

impl Known {
    /// Creates empty results.
    pub(super) fn of(device: i64) -> Known {
        Known { device, steps: Finding::new(device), growth: None }
    }

    /// Finds the steps, then the call sites that grow from step to step.
    pub(super) fn grow(&mut self, file: &OpenFile, history: &DeviceHistory, slice: &mut Slice) -> Sliced {
        self.steps.step(file, slice)?;
        let new = || Growth::new(file, history, &self.steps.steps);
        self.growth.get_or_insert_with(new).step(file, history, slice)
    }

    /// Returns the growing call sites, or `None` if they were not computed yet.
    pub(super) fn growth(&self) -> Option<&Growth> {
        self.growth.as_ref()
    }

    /// Returns the size in bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.steps.heap_bytes() + self.growth.as_ref().map_or(0, Growth::heap_bytes)
    }
}
