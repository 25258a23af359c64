//! Inputs of a simulated run, and its result.

use super::addresses::Order;
use super::counts::{Exercised, Totals};
use super::program::Program;
use super::settings::{Backend, Limits, Settings};

/// Placement of early allocations, i.e. those made before the first event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartState {
    /// Placed again under the run's settings, in address order.
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
    /// Only before these events, ascending.
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
    /// True to run the trace twice. The second run starts with the memory that the first one left cached.
    pub is_repeated: bool,
    /// First event that is not simulated. `None` runs to the end.
    pub until: Option<u32>,
    /// True to use the sizes in [`Recording::planned`].
    pub is_planned: bool,
    /// True to count [`Outcome::peak_rounded`].
    pub counts_rounded: bool,
    /// True to record the curves.
    pub keeps_curve: bool,
}

/// Result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub peak_reserved: u64,
    /// Index of the first event after which the peak is reached. −1 if it is reached before the first event.
    pub peak_event: i64,
    /// Bytes of live blocks at the peak. The rest of the peak is fragmentation.
    pub allocated_at_peak: u64,
    /// Maximum sum of the bytes of live blocks.
    pub peak_allocated: u64,
    /// Maximum sum of rounded bytes of live allocations, without the remainders of their blocks. 0 if it is not
    /// counted.
    pub peak_rounded: u64,
    /// Maximum sum of the requested bytes of live allocations.
    pub peak_live: u64,
    pub totals: Totals,
    pub exercised: Exercised,
    /// Event of the request that failed. −1 if the early allocations do not fit.
    pub oom_event: Option<i64>,
    /// Event of a request that failed in the recording but succeeds here. The program would have continued differently.
    pub avoided_oom: Option<u32>,
    pub reserved_at_end: u64,
}

impl Outcome {
    /// Returns the part of the outcome that matters to a user: peak, driver calls, retries and failed requests.
    pub(crate) fn summary(&self) -> (u64, u64, u64, Option<i64>, Option<u32>) {
        let Outcome { peak_reserved, totals, oom_event, avoided_oom, .. } = self;
        (*peak_reserved, totals.driver_calls(), totals.retries, *oom_event, *avoided_oom)
    }
}
