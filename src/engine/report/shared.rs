//! Results that several reports share: training steps and growing call sites. They are computed once per device.

use super::leaks::Growth;
use super::steps::StepFinder;
use crate::open::OpenFile;
use base::slice::{SliceResult, TimeSlice};
use history::replay::DeviceHistory;

/// Results for one device that are shared by several reports.
pub(super) struct SharedResults {
    pub(super) device: i64,
    pub(super) steps: StepFinder,
    /// Growth of each call site. `None` until a report needs it.
    growth: Option<Growth>,
}

base::heap_bytes!(SharedResults: steps, growth);

impl SharedResults {
    /// Creates empty results for the device with the ordinal `device`.
    pub(super) fn new(device: i64) -> SharedResults {
        SharedResults { device, steps: StepFinder::new(device), growth: None }
    }

    /// Continues finding the steps, and then computing the growth of each call site from step to step.
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

    /// Returns the growth of the call sites. `None` if it was not computed yet.
    pub(super) fn growth(&self) -> Option<&Growth> {
        self.growth.as_ref()
    }
}
