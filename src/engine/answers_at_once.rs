//! Methods of the engine that return at once, for commands and other crates that do not work in slices.

use super::Engine;
use super::side::Side;
use base::slice::TimeSlice;
use protocol::{Report, ReportQuestion};

impl Engine {
    /// Returns the device with this ordinal. `None` if the open file does not have it.
    pub fn side(&self, device: i64) -> Option<Side<'_>> {
        self.file.as_deref()?.side(device)
    }

    /// Computes the categories and the segment lifetimes of a device without time slices, then returns the device.
    pub fn complete_side(&mut self, device: i64) -> Option<Side<'_>> {
        self.file.as_deref_mut()?.prepare_all();
        self.side(device)
    }

    /// Computes only what sums over allocations need: the categories, and the segment lifetimes if the device has OOMs.
    /// Then returns the device.
    pub fn side_for_sums(&mut self, device: i64) -> Option<Side<'_>> {
        let file = self.file.as_deref_mut()?;
        let has_time = &mut || true;
        let mut slice = TimeSlice::new(has_time);
        while file.categorize(&mut slice).is_err() {}
        if file.history(device)?.oom_events().next().is_some() {
            while file.compute_segments(device, &mut slice).is_err() {}
        }
        self.side(device)
    }

    /// Computes several insights on a device of the open file, on all cores, and returns them in the order of the
    /// questions. They are those that [`Question::Report`](crate::Question::Report) asks for. `None` if no file is
    /// open, or if `may_continue` returns false, which is called every few milliseconds.
    pub fn reports(
        &mut self,
        device: i64,
        questions: &[ReportQuestion],
        may_continue: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Report>> {
        let file = self.file.as_deref_mut()?;
        self.questions.reports.compute_all(file, device, questions, may_continue).ok()
    }
}
