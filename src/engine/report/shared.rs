//! Results that several reports share, computed once per device: steps and growing call sites.

use super::leaks::Growth;
use super::steps::StepFinder;
use crate::open::OpenFile;
use base::slice::{SliceResult, TimeSlice};
use history::replay::DeviceHistory;

/// Shared results for a device.
pub(super) struct SharedResults {
    pub(super) device: i64,
    pub(super) steps: StepFinder,
    /// `None` until a report needs it.
    growth: Option<Growth>,
}

impl SharedResults {
    /// Creates empty results.
    pub(super) fn new(device: i64) -> SharedResults {
        SharedResults { device, steps: StepFinder::new(device), growth: None }
    }

    /// Finds the steps, then the call sites that grow from step to step.
    pub(super) fn find_growth(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        slice: &mut TimeSlice,
    ) -> SliceResult {
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
