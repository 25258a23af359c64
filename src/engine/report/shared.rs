//! Results that several reports share, computed once per device: steps and growing call sites.

use super::leaks::Growth;
use super::steps::StepFinder;
use crate::open::OpenFile;
use base::slice::{SliceResult, TimeSlice};
use history::replay::DeviceHistory;

/// Results for one device that several reports share.
pub(super) struct SharedResults {
    pub(super) device: i64,
    pub(super) steps: StepFinder,
    /// Growth of the call sites. `None` until a report needs it.
    growth: Option<Growth>,
}

impl SharedResults {
    /// Creates empty results for the device with this ordinal.
    pub(super) fn new(device: i64) -> SharedResults {
        SharedResults { device, steps: StepFinder::new(device), growth: None }
    }

    /// Finds the steps, then computes the growth of each call site from step to step.
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

    /// Returns the growth of the call sites, or `None` if it is not computed yet.
    pub(super) fn growth(&self) -> Option<&Growth> {
        self.growth.as_ref()
    }

    /// Returns the heap memory in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        self.steps.heap_bytes() + self.growth.as_ref().map_or(0, Growth::heap_bytes)
    }
}
