//! Inputs and result of a simulated run.

use super::addresses::Order;
use super::counts::{Exercised, Totals};
use super::program::Program;
use super::recording::Recording;
use super::rounding::{rounded, segment};
use super::settings::{Backend, Limits, Settings};

/// Placement of allocations that were made before the first event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartState {
    /// Placed by the simulation under the run's settings, in order of address.
    #[default]
    Fresh,
    /// Kept at their recorded addresses.
    Kept,
}

/// Events at which a run calls `empty_cache()`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EmptyCache {
    #[default]
    AsRecorded,
    Never,
    /// Only before the events with these indices, ascending.
    Before(Vec<u32>),
}

/// Inputs of a simulated run, besides the recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    pub settings: Settings,
    pub backend: Backend,
    pub limits: Limits,
    pub order: Order,
    pub start: StartState,
    pub empty_cache: EmptyCache,
    pub program: Program,
    /// Index of the first event that is not simulated. `None` simulates all events.
    pub until: Option<u32>,
    /// True to use the sizes in [`Recording::planned`](crate::recording::Recording::planned).
    pub is_planned: bool,
    /// True to compute [`Outcome::peak_rounded`].
    pub counts_rounded: bool,
    /// True to record memory curves.
    pub keeps_curve: bool,
}

impl Plan {
    /// Removes `max_split_size_mb` from the settings if no block gets that large, so that runs with equal results have
    /// equal plans. `largest` is the [largest request](Recording::largest_request) in bytes.
    pub(crate) fn without_unused_split(mut self, recording: &Recording, largest: u64) -> Plan {
        let block = rounded(&self.settings, self.backend, largest.max(self.program.preallocate));
        let own = segment(&self.settings, block).max(self.settings.large_segment);
        // Blocks of expandable segments grow by merging.
        let held = recording.held.iter().map(|held| if held.expandable { u64::MAX } else { held.size });
        let bound = held.fold(own, u64::max);
        if !self.settings.expandable && self.settings.max_split.is_some_and(|most| bound < most) {
            self.settings.max_split = None;
        }
        self
    }
}

/// Result of a simulated run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub peak_reserved: u64,
    /// Index of the event at which the peak is reached. −1 if it is reached before the first event.
    pub peak_event: i64,
    /// Bytes in live blocks at the peak of reserved memory. The rest of the peak is fragmentation.
    pub allocated_at_peak: u64,
    /// Maximum of the total bytes in live blocks.
    pub peak_allocated: u64,
    /// Maximum of the total rounded bytes of live allocations, without unused remainders of their blocks. 0 if not
    /// computed.
    pub peak_rounded: u64,
    /// Maximum of the total requested bytes of live allocations.
    pub peak_live: u64,
    pub totals: Totals,
    pub exercised: Exercised,
    /// Index of the event whose request failed. −1 if the allocations made before recording do not fit.
    pub oom_event: Option<i64>,
    /// Index of the event whose request failed in the recording but succeeds in this run. The run ends there, since the
    /// program would have continued differently.
    pub avoided_oom: Option<u32>,
    pub reserved_at_end: u64,
}

impl Outcome {
    /// Returns the figures that users see: peak, driver calls, retries, event of the failed request, and event of the
    /// avoided failure.
    pub(crate) fn summary(&self) -> (u64, u64, u64, Option<i64>, Option<u32>) {
        let Outcome { peak_reserved, totals, oom_event, avoided_oom, .. } = self;
        (*peak_reserved, totals.driver_calls(), totals.retries, *oom_event, *avoided_oom)
    }
}
